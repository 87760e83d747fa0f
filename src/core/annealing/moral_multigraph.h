// The moral graph of a structure that changes over time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twbn {

/// How many families join each pair of vertices. Each vertex lists its neighbours, so looking up a
/// pair takes time proportional to a degree, whatever the number of vertices.
class MoralMultigraph {
 public:
  struct Link {
    std::int32_t vertex;
    std::int32_t count;
  };

  explicit MoralMultigraph(int n) : links_(static_cast<std::size_t>(n)) {}

  int n_vertices() const { return static_cast<int>(links_.size()); }
  std::span<const Link> links(int v) const { return links_[static_cast<std::size_t>(v)]; }

  /// Join, or part, every pair of {child} ∪ parents.
  void add_family(std::int32_t child, std::span<const std::int32_t> parents) {
    for (std::size_t i = 0; i < parents.size(); ++i) {
      add(child, parents[i]);
      for (std::size_t j = 0; j < i; ++j) add(parents[j], parents[i]);
    }
  }
  void remove_family(std::int32_t child, std::span<const std::int32_t> parents) {
    for (std::size_t i = 0; i < parents.size(); ++i) {
      remove(child, parents[i]);
      for (std::size_t j = 0; j < i; ++j) remove(parents[j], parents[i]);
    }
  }

 private:
  using Links = std::vector<Link>;

  static Links::iterator find(Links& links, std::int32_t vertex) {
    return std::find_if(links.begin(), links.end(),
                        [vertex](const Link& link) { return link.vertex == vertex; });
  }
  void add(std::int32_t a, std::int32_t b) {
    Links& of_a = links_[static_cast<std::size_t>(a)];
    Links& of_b = links_[static_cast<std::size_t>(b)];
    const auto there = find(of_a, b);
    if (there == of_a.end()) {
      of_a.push_back({b, 1});
      of_b.push_back({a, 1});
      return;
    }
    ++there->count;
    ++find(of_b, a)->count;
  }
  void remove(std::int32_t a, std::int32_t b) {
    for (int side = 0; side < 2; ++side, std::swap(a, b)) {
      Links& links = links_[static_cast<std::size_t>(a)];
      const auto there = find(links, b);
      if (--there->count == 0) {
        *there = links.back();
        links.pop_back();
      }
    }
  }

  std::vector<Links> links_;
};

}  // namespace twbn
