#include "python/watch.h"

namespace twbn::python {

bool interrupted_now() {
  if (PyErr_CheckSignals() != 0) {
    nb::python_error error;
    if (!error.matches(PyExc_KeyboardInterrupt)) throw error;
    return true;
  }
  return nb::cast<bool>(nb::module_::import_("twbn.interrupts").attr("pending")());
}

}  // namespace twbn::python
