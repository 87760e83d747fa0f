// The extension module: arrays in, arrays out, the GIL released in between.
#include "python/module.h"

NB_MODULE(_core, m) {
  m.doc() = "Compiled kernels of twbn. The Python code that calls them checks their arguments.";
  twbn::python::bind_scores(m);
  twbn::python::bind_graphs(m);
  twbn::python::bind_sampling(m);
  twbn::python::bind_annealing(m);
  twbn::python::bind_exact(m);
  twbn::python::bind_bound(m);
  twbn::python::bind_inference(m);
}
