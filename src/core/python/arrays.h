// NumPy arrays in and out, and plain C++ values for what they hold.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "graphs/dandelion.h"

namespace twbn::python {

namespace nb = nanobind;

using Integers = std::vector<std::int32_t>;

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using NewArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
std::span<const T> view(const Array1<T>& array) {
  return {array.data(), array.size()};
}

template <class T>
NewArray<T> to_numpy(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return NewArray<T>(owned->data(), {owned->size()}, owner);
}

/// The arrays of a k-tree: root, then for every step the vertex, its parent step and the one dropped.
using Steps = std::tuple<Integers, Integers, Integers, Integers>;

inline Steps steps_tuple(const KTreeSteps& tree) {
  return {tree.root, tree.vertex, tree.parent, tree.dropped};
}

}  // namespace twbn::python
