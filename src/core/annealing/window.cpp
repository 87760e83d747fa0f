#include "annealing/window.h"

#include <algorithm>

#include "base/numbers.h"

namespace twbn {

WindowSearch::WindowSearch(const ScoreIndex& index, std::size_t max_parents)
    : index_(index),
      max_parents_(max_parents),
      place_(static_cast<std::size_t>(index.n_variables()), -1),
      choices_(max_size) {}

double WindowSearch::solve(std::span<const std::int32_t> window, const IsBefore& is_before,
                           const Allows& allows) {
  const std::size_t size = window.size();
  const std::size_t n_subsets = std::size_t{1} << size;
  for (std::size_t i = 0; i < size; ++i) place_[at(window[i])] = static_cast<std::int32_t>(i);
  best_.assign(size * n_subsets, minus_infinity);
  for (std::size_t i = 0; i < size; ++i) {
    list_choices(i, window, is_before, allows);
    double* best = best_.data() + i * n_subsets;
    for (const Choice& choice : choices_[i]) {
      double& score = best[choice.inside];
      score = std::max(score, index_.scores()[static_cast<std::size_t>(choice.set)]);
    }
    // Whatever a set of predecessors allows, every superset allows too.
    for (std::size_t bit = 1; bit < n_subsets; bit <<= 1) {
      for (std::size_t block = 0; block < n_subsets; block += 2 * bit) {
        for (std::size_t s = block; s < block + bit; ++s) {
          best[s + bit] = std::max(best[s + bit], best[s]);
        }
      }
    }
  }
  for (const std::int32_t v : window) place_[at(v)] = -1;

  total_.assign(n_subsets, minus_infinity);
  last_.resize(n_subsets);
  total_[0] = 0;
  for (std::size_t subset = 1; subset < n_subsets; ++subset) {
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t rest = subset & ~(std::size_t{1} << i);
      if (rest == subset) continue;
      const double score = total_[rest] + best_[i * n_subsets + rest];
      if (score > total_[subset]) {
        total_[subset] = score;
        last_[subset] = static_cast<std::uint8_t>(i);
      }
    }
  }
  const double found = total_[n_subsets - 1];
  order_.clear();
  sets_.clear();
  if (found == minus_infinity) return found;
  for (std::size_t left = n_subsets - 1; left != 0;) {
    const std::size_t i = last_[left];
    left &= ~(std::size_t{1} << i);
    order_.push_back(window[i]);
    const auto choice = std::find_if(choices_[i].begin(), choices_[i].end(),
                                     [&](const Choice& c) { return (c.inside & ~left) == 0; });
    sets_.push_back(choice->set);
  }
  std::reverse(order_.begin(), order_.end());
  std::reverse(sets_.begin(), sets_.end());
  return found;
}

// A parent set without members of the window beats all sets after it in the list.
void WindowSearch::list_choices(std::size_t position, std::span<const std::int32_t> window,
                                const IsBefore& is_before, const Allows& allows) {
  const std::int32_t v = window[position];
  auto& choices = choices_[position];
  choices.clear();
  const auto offsets = index_.variable_offsets();
  for (auto set = offsets[at(v)]; set < offsets[at(v) + 1]; ++set) {
    const auto members = index_.parents(set);
    if (members.size() > max_parents_) continue;
    std::uint32_t inside = 0;
    bool possible = true;
    for (const std::int32_t u : members) {
      if (place_[at(u)] >= 0) {
        inside |= std::uint32_t{1} << place_[at(u)];
      } else if (!is_before(u)) {
        possible = false;
        break;
      }
    }
    if (!possible || !allows(v, members)) continue;
    choices.push_back({inside, set});
    if (inside == 0) break;
  }
}

}  // namespace twbn
