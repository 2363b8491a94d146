#include "compiled/linked_parts.h"

#include <string>
#include <utility>
#include <vector>

#include "convert/convert.h"
#include "execution/cuda_source/module_code.h"
#include "module.h"
#include "package.h"

namespace weft::python {

namespace {

struct OfPython {
    std::shared_ptr<const cuda::LinkedParts> parts;
};

std::vector<std::string> texts_of(nb::handle list) {
    std::vector<std::string> texts;
    for (nb::handle each : list) texts.push_back(text_of(each));
    return texts;
}

}  // namespace

std::shared_ptr<const cuda::LinkedParts> linked_parts(const Program& program) {
    if (program.links.empty()) return nullptr;
    nb::list links;
    for (const nb::object& link : program.links) links.append(link);
    const nb::object made = nb::module_::import_(modules::kCudaExternal).attr("linked_parts")(links);
    return nb::cast<const OfPython&>(made).parts;
}

void set_error_of_source(const CompileError& error) {
    const nb::object type = nb::module_::import_(modules::kExceptions).attr("CompileError");
    const nb::object made = type(nb::str(error.what()));
    nb::setattr(made, "log", nb::str(error.log().c_str()));
    PyErr_SetObject(type.ptr(), made.ptr());
}

void bind_linked_parts(nb::module_& m) {
    nb::class_<OfPython>(m, "_LinkedParts");
    m.def(
        "_linked_parts",
        [](nb::handle sources, const std::string& name, nb::handle paths, nb::handle code) {
            ModuleSource source{texts_of(sources), texts_of(paths), {}};
            source.options.name = name;
            std::vector<std::pair<std::string, std::string>> files;
            for (nb::handle each : code) {
                const auto bytes = nb::cast<nb::bytes>(each[1]);
                files.emplace_back(text_of(each[0]), std::string(bytes.c_str(), bytes.size()));
            }
            return OfPython{parts_to_link(source, std::move(files))};
        },
        nb::arg("sources"), nb::arg("name"), nb::arg("paths"), nb::arg("code"));
}

}  // namespace weft::python
