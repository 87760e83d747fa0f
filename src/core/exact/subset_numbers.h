// Numbers of subsets, by hashing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace twbn {

/// A map from non-empty subsets to numbers: open addressing, at most half full.
class SubsetNumbers {
 public:
  /// The number of a subset; `number` if it had none, which it has from then on.
  std::uint32_t find_or_insert(std::uint32_t subset, std::uint32_t number) {
    if (2 * (size_ + 1) > places_.size()) grow();
    Place& place = places_[find(subset)];
    if (place.subset == 0) {
      place = {subset, number};
      ++size_;
    }
    return place.number;
  }
  void clear() {
    places_.assign(places_.size(), Place{});
    size_ = 0;
  }
  std::size_t bytes() const { return places_.size() * sizeof(Place); }

 private:
  struct Place {
    std::uint32_t subset = 0;
    std::uint32_t number = 0;
  };

  std::size_t find(std::uint32_t subset) const {
    std::size_t i = (subset * std::uint64_t{0x9e3779b97f4a7c15} >> 20) & (places_.size() - 1);
    while (places_[i].subset != 0 && places_[i].subset != subset) i = (i + 1) & (places_.size() - 1);
    return i;
  }
  void grow() {
    std::vector<Place> old(places_.empty() ? 1024 : 2 * places_.size());
    old.swap(places_);
    for (const Place& place : old) {
      if (place.subset != 0) places_[find(place.subset)] = place;
    }
  }

  std::vector<Place> places_;
  std::size_t size_ = 0;
};

}  // namespace twbn
