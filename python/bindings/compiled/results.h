// What compiled functions return and tell, as Python's objects.
#pragma once

#include <map>
#include <memory>

#include "codegen/runtime/heap.h"
#include "compiled/arguments.h"
#include "graph/storage.h"
#include "lang/lower.h"

namespace weft::python {

/// Takes values one after another, 16 bytes each.
class Results {
public:
    /// `frame` and `arguments` are where arrays are; without them there are none.
    explicit Results(const char* bytes, const codegen::HeapFrame* frame = nullptr,
                     const CallArguments* arguments = nullptr)
        : at_(bytes), frame_(frame), arguments_(arguments) {}

    nb::object next(lang::TypeRef type);

private:
    int64_t word();
    nb::object next_array(lang::TypeRef type);
    nb::object next_list(lang::TypeRef type);
    nb::object of_argument(char* data, DType dtype, const Dims& shape, const Dims& strides,
                           bool readonly) const;

    const char* at_;
    const codegen::HeapFrame* frame_;
    const CallArguments* arguments_;
    std::map<int64_t, std::shared_ptr<Storage>> storages_;
    std::map<int64_t, nb::object> lists_;  // by owner
};

/// The values that a site tells (lang::SiteKind::kTold), as a tuple.
nb::object told_values(const lang::Site& site, const char* payload);

}  // namespace weft::python
