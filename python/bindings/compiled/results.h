// What compiled functions return and tell, as Python's objects.
#pragma once

#include <map>
#include <memory>

#include "codegen/runtime/heap.h"
#include "compiled/arguments.h"
#include "graph/storage.h"
#include "lang/lower.h"

namespace weft::python {

/// Makes the objects of generators.
class GeneratorMaker {
public:
    GeneratorMaker() = default;
    GeneratorMaker(const GeneratorMaker&) = delete;
    GeneratorMaker& operator=(const GeneratorMaker&) = delete;
    virtual ~GeneratorMaker() = default;
    virtual nb::object make(lang::TypeRef type, int64_t* head) = 0;
};

/// Takes values one after another, 16 bytes each.
class Results {
public:
    /// `frame` and `arguments` are where arrays are; without them there are none.
    explicit Results(const char* bytes, const codegen::HeapFrame* frame = nullptr,
                     CallArguments* arguments = nullptr)
        : at_(bytes), frame_(frame), arguments_(arguments) {
        if (arguments != nullptr) lists_ = arguments->lists().by_owner();
    }

    /// The code goes on with its memory afterwards, so arrays share it; generators are made by `maker`.
    void keeps_memory(GeneratorMaker* maker) {
        shares_ = true;
        maker_ = maker;
    }

    /// Gives the lists among the arguments that were written what the code has made of them.
    void copy_back(const std::vector<bool>& written);

    nb::object next(lang::TypeRef type);

private:
    int64_t word();
    nb::object generator_at(int64_t address) const;
    bool gives_numpy() const { return arguments_ != nullptr && arguments_->gives_numpy(); }
    nb::object next_array(lang::TypeRef type);
    nb::object next_structures(lang::TypeRef type);
    nb::object next_bytes(lang::TypeRef type);
    nb::object next_text(lang::TypeRef points);
    PyObject* holder_of(const char* data) const;
    nb::object keeper_of(const char* data, int64_t owner) const;
    nb::object next_list(lang::TypeRef type);
    nb::object items_of(const int64_t* head, lang::TypeRef type);
    nb::object of_argument(char* data, DType dtype, const Dims& shape, const Dims& strides,
                           bool readonly) const;

    const char* at_;
    const codegen::HeapFrame* frame_;
    CallArguments* arguments_;
    GeneratorMaker* maker_ = nullptr;
    bool shares_ = false;
    std::map<int64_t, std::shared_ptr<Storage>> storages_;
    std::map<int64_t, nb::object> lists_;  // by owner
};

/// The values that a site tells (lang::SiteKind::kTold), as a tuple.
/// Arrays as texts, since their memory is the code's.
nb::object told_values(const lang::Site& site, const char* payload);

}  // namespace weft::python
