#include "bound/family_pricer.h"

#include <algorithm>
#include <map>

#include "base/numbers.h"

namespace twbn {

namespace {

// Compiled twice where the compiler and the loader can choose between the two at run time.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define TWBN_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define TWBN_WIDE
#endif

/// Add `reward` to the sum of every family that has no parent in the cluster. `masks` holds, word
/// by word, one entry for each family.
TWBN_WIDE void reward_disjoint(const std::uint64_t* masks, std::size_t stride, std::size_t n_words,
                               const std::uint64_t* cluster, double reward, std::size_t n,
                               double* sums) {
  if (n_words == 1) {
    const std::uint64_t c = cluster[0];
    for (std::size_t t = 0; t < n; ++t) sums[t] += (masks[t] & c) == 0 ? reward : 0.0;
  } else if (n_words == 2) {
    const std::uint64_t c = cluster[0];
    const std::uint64_t d = cluster[1];
    for (std::size_t t = 0; t < n; ++t) {
      sums[t] += ((masks[t] & c) | (masks[stride + t] & d)) == 0 ? reward : 0.0;
    }
  } else {
    for (std::size_t t = 0; t < n; ++t) {
      std::uint64_t common = 0;
      for (std::size_t w = 0; w < n_words; ++w) common |= masks[w * stride + t] & cluster[w];
      sums[t] += common == 0 ? reward : 0.0;
    }
  }
}
}  // namespace

FamilyPricer::FamilyPricer(const ScoreIndex& index)
    : index_(index),
      n_words_((at(index.n_variables()) + 63) / 64),
      masks_(index.scores().size() * n_words_) {
  for (std::size_t set = 0; set < index.scores().size(); ++set) {
    for (const std::int32_t p : index.parents(static_cast<std::int64_t>(set))) {
      masks_[at(p >> 6) * index.scores().size() + set] |= std::uint64_t{1} << (p & 63);
    }
  }
}

std::vector<double> FamilyPricer::values(const Multipliers& multipliers, int n_jobs,
                                         Control& control) const {
  const int n = index_.n_variables();
  std::vector<double> values(index_.scores().begin(), index_.scores().end());
  std::vector<std::map<std::pair<std::int32_t, std::int32_t>, double>> pairs(at(n));
  for (std::size_t i = 0; i < multipliers.pair_children.size(); ++i) {
    pairs[at(multipliers.pair_children[i])][{multipliers.pair_first[i], multipliers.pair_second[i]}] +=
        multipliers.pair_charges[i];
  }
  std::vector<std::uint64_t> clusters(multipliers.clusters.size() * n_words_);
  for (std::size_t c = 0; c < multipliers.clusters.size(); ++c) {
    for (const std::int32_t v : multipliers.clusters[c]) {
      clusters[c * n_words_ + at(v >> 6)] |= std::uint64_t{1} << (v & 63);
    }
  }
  for_each_unit(
      n, n_jobs, control, [] { return std::vector<double>(); },
      [&](std::int64_t child, std::vector<double>& sums) {
        const auto offsets = index_.variable_offsets();
        const auto first = at(offsets[at(child)]);
        const auto n_sets = at(offsets[at(child) + 1]) - first;
        sums.assign(n_sets, 0.0);
        for (std::size_t c = 0; c < multipliers.clusters.size(); ++c) {
          const auto& members = multipliers.clusters[c];
          if (!std::binary_search(members.begin(), members.end(), child)) continue;
          reward_disjoint(masks_.data() + first, values.size(), n_words_,
                          clusters.data() + c * n_words_, multipliers.cluster_weights[c], n_sets,
                          sums.data());
        }
        const auto& charged = pairs[at(child)];
        for (auto set = offsets[at(child)]; set < offsets[at(child) + 1]; ++set) {
          double& sum = sums[at(set) - first];
          const auto parents = index_.parents(set);
          if (!multipliers.arc_charges.empty()) {
            for (const std::int32_t p : parents) {
              sum -= multipliers.arc_charges[at(child) * at(n) + at(p)];
            }
          }
          if (!charged.empty()) {
            for (std::size_t i = 0; i < parents.size(); ++i) {
              for (std::size_t j = 0; j < i; ++j) {
                const auto found = charged.find({parents[j], parents[i]});
                if (found != charged.end()) sum -= found->second;
              }
            }
          }
          values[at(set)] += sum;
        }
      },
      [](auto&) {});
  return values;
}

}  // namespace twbn
