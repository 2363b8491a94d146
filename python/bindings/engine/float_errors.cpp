// Floating-point errors: what runs asks weft._ufunc.errstate, which keeps the modes, and tells it what was
// found.
#include "core/float_errors.h"

#include "module.h"
#include "objects/objects.h"
#include "package.h"

namespace weft::python {

namespace {

class Listener final : public FloatErrorListener {
public:
    FloatErrors wanted() override {
        const GilAcquire acquire;
        return nb::cast<FloatErrors>(nb::module_::import_(modules::kErrorState).attr("_wanted")());
    }
    void report(FloatErrors errors, std::string_view name) override {
        const GilAcquire acquire;
        nb::module_::import_(modules::kErrorState).attr("_report")(errors, nb::str(name.data(), name.size()));
    }
};

}  // namespace

void bind_float_errors(nb::module_& m) {
    static Listener listener;
    set_float_error_listener(&listener);
    m.def(
        "_watch_float_errors", [](int contexts) { return float_error_contexts += contexts; },
        arg("contexts"));
}

}  // namespace weft::python
