#include "engine/late_warnings.h"

#include <memory>
#include <utility>

#include "engine/gil.h"
#include "execution/late_warnings.h"
#include "graph/storage.h"
#include "module.h"
#include "package.h"
#include "weft/ops.h"

namespace weft::python {

namespace {

class PythonWarning final : public LateWarning {
public:
    explicit PythonWarning(nb::object teller) : teller_(teller.release().ptr()) {}
    ~PythonWarning() override {
        if (!may_take_gil()) return;
        const GilAcquire acquire;
        Py_DECREF(teller_);
    }
    void tell() override {
        const GilAcquire acquire;
        const nb::handle teller(teller_);
        teller();
    }

private:
    PyObject* teller_;
};

}  // namespace

void warn_where(const array& condition, const array& result, const char* text) {
    if (!condition.valid()) return;
    const auto ask = [](const char* name, const char* about) {
        return nb::module_::import_(modules::kLateWarnings).attr(name)(about);
    };
    const NodePtr node = current_version(*result.storage()).node;
    if (node == nullptr || evaluated(condition)) {
        if (truth_of(condition)) ask("warn", text);
        return;
    }
    nb::object teller = ask("teller", text);
    if (teller.is_none()) return;
    if (teller.ptr() == Py_True) {
        bool holds = false;
        {
            const GilRelease release;
            holds = truth_of(condition);
        }
        if (holds) ask("warn", text);
        return;
    }
    warn_when_computed(node, condition.storage(), std::make_shared<PythonWarning>(std::move(teller)));
}

}  // namespace weft::python
