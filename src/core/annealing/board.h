// Where chains publish the best structure for the thread that reports progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/numbers.h"

namespace twbn {

using ParentLists = std::vector<std::vector<std::int32_t>>;

/// A structure with an elimination order that proves its width.
struct ProvedNetwork {
  double score = 0;
  ParentLists parents;
  std::vector<std::int32_t> order;
};

/// The best structure of all chains so far, for the thread that reports progress.
class Board {
 public:
  static constexpr auto pause = std::chrono::milliseconds(100);  // between a chain's offers
  void offer(const ProvedNetwork& network);
  /// The structure, if it is better than the last one taken.
  std::optional<ProvedNetwork> take();

 private:
  std::mutex mutex_;
  ProvedNetwork best_{minus_infinity, {}, {}};
  bool is_new_ = false;
};

}  // namespace twbn
