// Inference: messages of rows.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include "inference/row_messages.h"
#include "python/arrays.h"
#include "python/module.h"

namespace twbn::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_inference(nb::module_& m) {
  nb::class_<RowMessages>(m, "RowMessages")
      .def(
          "__init__",
          [](RowMessages* self, Array1<std::int32_t> n_states, Array1<std::int32_t> parent,
             Array1<std::int64_t> variable_offsets, Array1<std::int32_t> variables,
             Array1<double> tables, Array1<std::int32_t> exponents, std::int32_t target) {
            new (self) RowMessages({view(n_states), view(parent), view(variable_offsets),
                                          view(variables), view(tables), view(exponents)},
                                         target);
          },
          "n_states"_a, "parent"_a, "variable_offsets"_a, "variables"_a, "tables"_a, "exponents"_a,
          "target"_a)
      .def(
          "collect",
          [](const RowMessages& self, Array2<std::int32_t> rows, std::size_t n_states) {
            const std::size_t n = rows.shape(0);
            const std::size_t width = rows.shape(1);
            std::vector<double> posteriors(n * n_states);
            std::vector<double> logs(n);
            {
              nb::gil_scoped_release release;
              auto scratch = self.scratch();
              for (std::size_t i = 0; i < n; ++i) {
                logs[i] = self.collect({rows.data() + i * width, width},
                                       {posteriors.data() + i * n_states, n_states}, scratch);
              }
            }
            return nb::make_tuple(to_numpy(std::move(posteriors)), to_numpy(std::move(logs)));
          },
          "rows"_a, "n_states"_a);
}

}  // namespace twbn::python
