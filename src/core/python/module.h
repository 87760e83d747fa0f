// What each folder of the core offers to Python.
#pragma once

#include <nanobind/nanobind.h>

namespace twbn::python {

void bind_scores(nanobind::module_& m);
void bind_graphs(nanobind::module_& m);
void bind_sampling(nanobind::module_& m);
void bind_annealing(nanobind::module_& m);
void bind_exact(nanobind::module_& m);
void bind_bound(nanobind::module_& m);
void bind_inference(nanobind::module_& m);

}  // namespace twbn::python
