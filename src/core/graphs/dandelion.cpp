#include "graphs/dandelion.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "base/numbers.h"

namespace twbn {

DandelionDecoder::DandelionDecoder(int n, int k)
    : n_(n),
      k_(k),
      shuffled_(at(n)),
      in_q_(at(n) + 1),
      phi_(at(n) + 1),
      back_(at(n) + 1),
      target_(at(n - k) + 1),
      target_label_(at(n - k) + 1),
      used_(at(n - k) + 1),
      seen_(at(n - k) + 1),
      first_child_(at(n - k) + 2),
      children_(at(n - k) + 1),
      cliques_(at(n - k) * at(k)) {
  std::iota(shuffled_.begin(), shuffled_.end(), 1);
}

void DandelionDecoder::sample(Random& random, DandelionCode& code) {
  code.q.resize(at(k_));
  // A partial shuffle of whatever order the last draw left is as uniform as of a fresh one, but
  // the answer must depend on the random numbers alone: it is undone below.
  std::int32_t swaps[64];
  std::vector<std::int32_t> many;
  std::int32_t* swapped = swaps;
  if (k_ > 64) {
    many.resize(at(k_));
    swapped = many.data();
  }
  for (std::int32_t i = 0; i < k_; ++i) {
    const auto j = i + static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(n_ - i)));
    std::swap(shuffled_[at(i)], shuffled_[at(j)]);
    swapped[i] = j;
    code.q[at(i)] = shuffled_[at(i)];
  }
  for (std::int32_t i = k_ - 1; i >= 0; --i) std::swap(shuffled_[at(i)], shuffled_[at(swapped[i])]);
  std::sort(code.q.begin(), code.q.end());

  const std::size_t length = at(n_ - k_ - 2);
  const auto k = static_cast<std::uint32_t>(k_);
  const std::uint32_t symbols = k * static_cast<std::uint32_t>(n_ - k_) + 1;
  code.node.resize(length);
  code.label.resize(length);
  for (std::size_t j = 0; j < length; ++j) {
    const std::uint32_t draw = random.below(symbols);
    code.node[j] = draw == 0 ? 0 : static_cast<std::int32_t>((draw - 1) / k + 1);
    code.label[j] = draw == 0 ? 0 : static_cast<std::int32_t>((draw - 1) % k + 1);
  }
}

void DandelionDecoder::decode(const DandelionCode& code, KTreeSteps& tree) {
  relabel(code);
  point(code);
  break_cycles();
  grow(tree);
}

// Step 1: phi sends Q to the k largest labels, and the labels it displaces to the places left.
void DandelionDecoder::relabel(const DandelionCode& code) {
  const std::int32_t low = n_ - k_;
  std::fill(in_q_.begin(), in_q_.end(), char{0});
  for (const std::int32_t q : code.q) in_q_[at(q)] = 1;
  std::iota(phi_.begin(), phi_.end(), 0);
  std::iota(back_.begin(), back_.end(), 0);
  for (std::int32_t i = 0; i < k_; ++i) {
    phi_[at(code.q[at(i)])] = low + i + 1;
    back_[at(low + i + 1)] = code.q[at(i)];
  }
  for (std::int32_t v = low + 1; v <= n_; ++v) {
    if (in_q_[at(v)]) continue;
    std::int32_t place = v;
    while (place > low) place = code.q[at(place - low - 1)];
    phi_[at(v)] = place;
    back_[at(place)] = v;
  }
}

// Steps 2 and 3: the two special nodes point to 0, the others where their symbols say.
void DandelionDecoder::point(const DandelionCode& code) {
  std::int32_t smallest = 1;
  while (in_q_[at(smallest)]) ++smallest;
  x_ = phi_[at(smallest)];
  std::fill(used_.begin(), used_.end(), char{0});
  for (const std::int32_t node : code.node) used_[at(node)] = 1;
  std::int32_t largest = n_;
  while (in_q_[at(largest)] || used_[at(phi_[at(largest)])]) --largest;
  const std::int32_t leaf = phi_[at(largest)];
  std::size_t j = 0;
  for (std::int32_t v = 1; v <= n_ - k_; ++v) {
    if (v == x_ || v == leaf) {
      target_[at(v)] = 0;
      target_label_[at(v)] = 0;
    } else {
      target_[at(v)] = code.node[j];
      target_label_[at(v)] = code.label[j];
      ++j;
    }
  }
}

// Step 4: swap the pointer of x with that of the largest node of each cycle, in increasing order.
void DandelionDecoder::break_cycles() {
  std::fill(seen_.begin(), seen_.end(), 0);
  peaks_.clear();
  for (std::int32_t start = 1; start <= n_ - k_; ++start) {
    std::int32_t v = start;
    while (v != 0 && seen_[at(v)] == 0) {
      seen_[at(v)] = start;
      v = target_[at(v)];
    }
    if (v == 0 || seen_[at(v)] != start) continue;
    std::int32_t peak = v;
    for (std::int32_t u = target_[at(v)]; u != v; u = target_[at(u)]) peak = std::max(peak, u);
    peaks_.push_back(peak);
  }
  std::sort(peaks_.begin(), peaks_.end());
  for (const std::int32_t peak : peaks_) {
    std::swap(target_[at(x_)], target_[at(peak)]);
    std::swap(target_label_[at(x_)], target_label_[at(peak)]);
  }
}

// Step 5: from the root clique down the tree, attaching each node to k members of its parent's.
void DandelionDecoder::grow(KTreeSteps& tree) {
  const std::int32_t low = n_ - k_;
  std::fill(first_child_.begin(), first_child_.end(), 0);
  for (std::int32_t v = 1; v <= low; ++v) ++first_child_[at(target_[at(v)]) + 1];
  std::partial_sum(first_child_.begin(), first_child_.end(), first_child_.begin());
  for (std::int32_t v = low; v >= 1; --v) {
    // Filled from the back, so that children come in ascending order.
    const std::int32_t u = target_[at(v)];
    children_[at(--first_child_[at(u) + 1])] = v;
  }
  // Now first_child_[u + 1] is where the children of u start; they end where those of u + 1 start.
  const auto begin_of = [&](std::int32_t u) { return first_child_[at(u) + 1]; };
  const auto end_of = [&](std::int32_t u) { return u == low ? low : first_child_[at(u) + 2]; };

  tree.n = n_;
  tree.k = k_;
  tree.root.resize(at(k_));
  tree.vertex.resize(at(low));
  tree.parent.resize(at(low));
  tree.dropped.resize(at(low));
  for (std::int32_t i = 0; i < k_; ++i) tree.root[at(i)] = back_[at(low + i + 1)] - 1;

  std::int32_t n_steps = 0;
  const auto attach = [&](std::int32_t v, std::int32_t parent_step) {
    const std::int32_t step = n_steps++;
    std::int32_t* clique = cliques_.data() + at(step) * at(k_);
    tree.vertex[at(step)] = back_[at(v)] - 1;
    tree.parent[at(step)] = parent_step;
    if (parent_step < 0) {
      for (std::int32_t i = 0; i < k_; ++i) clique[i] = low + i + 1;
      tree.dropped[at(step)] = -1;
      return;
    }
    const std::int32_t u = target_[at(v)];
    const std::int32_t out = target_label_[at(v)] - 1;
    const std::int32_t* from = cliques_.data() + at(parent_step) * at(k_);
    tree.dropped[at(step)] = back_[at(from[out])] - 1;
    std::int32_t to = 0;
    bool placed = false;
    for (std::int32_t i = 0; i < k_; ++i) {
      if (i == out) continue;
      if (!placed && u < from[i]) {
        clique[to++] = u;
        placed = true;
      }
      clique[to++] = from[i];
    }
    if (!placed) clique[to] = u;
  };
  for (std::int32_t c = begin_of(0); c < end_of(0); ++c) attach(children_[at(c)], -1);
  for (std::int32_t done = 0; done < n_steps; ++done) {
    const std::int32_t u = phi_[at(tree.vertex[at(done)] + 1)];
    for (std::int32_t c = begin_of(u); c < end_of(u); ++c) attach(children_[at(c)], done);
  }
}

}  // namespace twbn
