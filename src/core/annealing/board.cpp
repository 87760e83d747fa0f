#include "annealing/board.h"

namespace twbn {

void Board::offer(const ProvedNetwork& network) {
  const std::lock_guard lock(mutex_);
  if (network.score <= best_.score) return;
  best_ = network;
  is_new_ = true;
}

std::optional<ProvedNetwork> Board::take() {
  const std::lock_guard lock(mutex_);
  if (!is_new_) return std::nullopt;
  is_new_ = false;
  return best_;
}

}  // namespace twbn
