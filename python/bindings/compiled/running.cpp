#include "compiled/running.h"

#include "codegen/runtime/spread.h"
#include "compiled/results.h"
#include "convert/convert.h"
#include "lang/errors/diagnostics.h"
#include "lang/exceptions/active.h"
#include "lang/exceptions/classes.h"
#include "module.h"
#include "package.h"
#include "weft/errors.h"

namespace weft::python {

void raise(const Compiled& compiled, const lang::Site& site, const char* payload) {
    const std::string text = lang::message_of(site, payload);
    nb::object type;
    if (site.symbol != nullptr) {
        const auto find_in = [&](const Program& program) {
            const auto found = program.classes.find(site.symbol);
            if (found != program.classes.end()) type = found->second;
        };
        find_in(*compiled.program);
        for (const std::shared_ptr<const Program>& given : compiled.given) find_in(*given);
    } else {
        const std::string name = lang::exception_of(site, payload);
        const bool is_own = name == "LinAlgError" || name == "AxisError";
        type = is_own ? nb::object(nb::module_::import_(modules::kJit).attr("error_class")(name))
                      : nb::object(nb::module_::import_("builtins").attr(name.c_str()));
    }
    nb::object error;
    if (site.symbol == nullptr && text == lang::kNothingToRaise)
        error = nb::module_::import_("sys").attr("exc_info")()[1];
    if (error.is_valid() && !error.is_none()) {
        // The one that the caller handles.
    } else if (site.kind == lang::SiteKind::kTold) {
        error = type(*nb::borrow<nb::args>(told_values(site, payload)));
    } else {
        error = site.has_text ? type(nb::str(text.c_str(), text.size())) : type();
    }
    if (site.place >= 0 && site.kind != lang::SiteKind::kIndex)
        error.attr("add_note")(lang::place_of(site, payload).c_str());
    const lang::Place place = site.function->tree.place(site.node);
    nb::module_::import_(modules::kJit)
        .attr("raise_at")(error, site.function->file, place.line, site.function->name);
    throw_python_error();
}

codegen::HeapMemory allocate_in_pool(size_t bytes) {
    auto held = std::make_shared<BufferPtr>(cpu_device().allocate(bytes));
    char* const data = (*held)->data();
    return {data, std::shared_ptr<void>(std::move(held)), static_cast<int64_t>(bytes)};
}

bool Listening::listen(void* context, uint32_t number, const char* payload) {
    auto& self = *static_cast<Listening*>(context);
    const lang::Site& heard = self.code.sites[lang::site_of_error(number)];
    if (heard.kind == lang::SiteKind::kEvent)
        return self.races == nullptr || self.races->hear(heard, payload);
    const nb::gil_scoped_acquire acquire;
    if (self.error) return false;
    try {
        const lang::Site& site = self.code.sites[lang::site_of_error(number)];
        // In one piece: threads print at the same time.
        nb::list texts;
        for (const nb::handle value : told_values(site, payload)) texts.append(nb::str(value));
        const nb::str separator(site.separator.c_str(), site.separator.size());
        const nb::object text = separator.attr("join")(texts) + nb::str(site.end.c_str(), site.end.size());
        nb::module_::import_("builtins")
            .attr("print")(text, nb::arg("end") = "", nb::arg("flush") = site.flush);
        return true;
    } catch (nb::python_error& raised) {
        self.error.emplace(raised);
    } catch (const std::exception& raised) {
        PyErr_SetString(PyExc_RuntimeError, raised.what());
        self.error.emplace();
    }
    return false;
}

void throw_too_deep() {
    PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded in a compiled function");
    throw_python_error();
}

void throw_error_of(int64_t status, Listening& listening, const Compiled& compiled,
                    const jit::Specialisation& code, const char* payload) {
    if (status == codegen::kStopped) {
        const std::exception_ptr reason = codegen::HeapFrame::take_stopped();
        if (reason == nullptr) throw InternalError("a compiled function stopped without a reason");
        std::rethrow_exception(reason);
    }
    if (listening.races != nullptr && !listening.races->race().empty()) {
        const nb::object type = nb::module_::import_(modules::kKernels).attr("RaceError");
        PyErr_SetString(type.ptr(), (code.name + "():\n" + listening.races->race()).c_str());
        throw_python_error();
    }
    if (listening.error) {
        listening.error->restore();
        throw_python_error();
    }
    if (status == int64_t{ir::kTooDeep} + 1) throw_too_deep();
    if (status != 0)
        raise(compiled, code.sites[lang::site_of_error(static_cast<uint32_t>(status - 1))], payload);
}

}  // namespace weft::python
