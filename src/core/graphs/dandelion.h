// Dandelion codes of k-trees: uniform sampling and decoding in linear time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace twbn {

/// A Dandelion code (Q, S) of a k-tree on the labels 1 .. n, n ≥ k + 2: Q is ascending, and symbol
/// j of S is (node[j], label[j]), or (0, 0) for (0, ε).
struct DandelionCode {
  std::vector<std::int32_t> q;
  std::vector<std::int32_t> node;
  std::vector<std::int32_t> label;
};

/// A k-tree on the vertices 0 .. n - 1, grown from a k-clique: step t attaches `vertex[t]` to the
/// k-clique that is the root clique (`parent[t]` = -1), or the (k+1)-clique of step `parent[t]`
/// without `dropped[t]`. Parents come before their children.
struct KTreeSteps {
  int n = 0;
  int k = 0;
  std::vector<std::int32_t> root;  // ascending
  std::vector<std::int32_t> vertex;
  std::vector<std::int32_t> parent;
  std::vector<std::int32_t> dropped;
};

/// Decodes codes of one (n, k). Holds scratch space: one object per thread, no allocation per code.
class DandelionDecoder {
 public:
  DandelionDecoder(int n, int k);

  /// A code drawn uniformly; every k-tree is equally likely.
  void sample(Random& random, DandelionCode& code);
  /// O(n·k) time. The steps numbered in the algorithm are those of Caminiti, Fusco and
  /// Petreschi (2010).
  void decode(const DandelionCode& code, KTreeSteps& tree);

 private:
  void relabel(const DandelionCode& code);
  void point(const DandelionCode& code);
  void break_cycles();
  void grow(KTreeSteps& tree);

  int n_;
  int k_;
  std::vector<std::int32_t> shuffled_;  // for drawing Q
  std::vector<char> in_q_;              // by label
  std::vector<std::int32_t> phi_;       // by label
  std::vector<std::int32_t> back_;      // inverse of phi
  std::int32_t x_ = 0;                  // phi of the smallest label outside Q
  std::vector<std::int32_t> target_;    // functional graph on 1 .. n - k
  std::vector<std::int32_t> target_label_;
  std::vector<char> used_;
  std::vector<std::int32_t> seen_;
  std::vector<std::int32_t> peaks_;
  std::vector<std::int32_t> first_child_;
  std::vector<std::int32_t> children_;
  std::vector<std::int32_t> cliques_;   // by step: the k members attached to, ascending in phi
};

}  // namespace twbn
