// The arguments of a call of a compiled function: their types as a key, and the words that its code is given.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiled/host_copies.h"
#include "compiled/kernels/gpu_arrays.h"
#include "compiled/lists.h"
#include "compiled/program.h"
#include "convert/convert.h"
#include "device/kernel.h"
#include "lang/types.h"
#include "objects/objects.h"

namespace weft::python {

/// Things that are nearly always few, and then need no memory of their own.
template <class T, size_t kInline>
class FewOf {
public:
    void push_back(const T& value) {
        if (count_ < kInline) {
            few_[count_++] = value;
            return;
        }
        if (many_.empty()) many_.assign(few_.begin(), few_.end());
        many_.push_back(value);
        ++count_;
    }
    T* data() { return many_.empty() ? few_.data() : many_.data(); }
    const T* data() const { return many_.empty() ? few_.data() : many_.data(); }
    size_t size() const { return count_; }
    const T& operator[](size_t i) const { return data()[i]; }
    T* begin() { return data(); }
    T* end() { return data() + count_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + count_; }

private:
    std::array<T, kInline> few_;
    size_t count_ = 0;
    std::vector<T> many_;
};
using WordList = FewOf<uint64_t, 40>;

/// An array among the arguments: the memory that it spans, and whose parameter it is.
struct Span {
    uintptr_t begin, end;
    size_t parameter;
};

/// Functions that were given as arguments: a type each, for as long as the program is what it was.
class GivenFunctions {
public:
    /// The number of a function, described when it is first given. `object` is a Python function or a
    /// compiled one.
    uint64_t number_of(PyObject* object);
    lang::TypeRef type_of(uint64_t number) const { return given_[number].type; }
    bool is_current() const;
    void clear() {
        given_.clear();
        texts_.clear();
        knows_all_texts_ = false;
    }
    const Program& program(uint64_t number) const { return *given_[number].program; }
    std::vector<std::shared_ptr<const Program>> programs() const;

    /// Texts are parts of types until there are many: then those that come are given at run time.
    bool knows(const std::string& text);
    /// From now on all texts are parts of types, as code needs that asks for the names of dtypes. Whether
    /// that was not so before.
    bool know_all_texts();

private:
    static constexpr size_t kMostTexts = 16;
    std::set<std::string> texts_;
    bool knows_all_texts_ = false;

    struct Given {
        nb::object function;
        std::shared_ptr<const Program> program;
        std::shared_ptr<const lang::Symbol> symbol;
        lang::TypeRef type;
    };
    std::vector<Given> given_;
};

/// Whether it is one of NumPy's, which have the buffer protocol as arrays without dimensions have.
bool is_numpy_scalar(PyObject* object);

class CallArguments {
public:
    explicit CallArguments(GivenFunctions& functions, bool whole_storages = false)
        : functions_(functions), own_copies_(whole_storages) {}
    /// Of arrays in a list, which are copied with those of the whole call.
    CallArguments(GivenFunctions& functions, HostCopies& copies)
        : functions_(functions), own_copies_(false), host_copies_(copies) {}
    CallArguments(const CallArguments&) = delete;
    CallArguments& operator=(const CallArguments&) = delete;
    ~CallArguments();

    /// Arrays are those that `arrays` has on a GPU.
    void use_gpu(GpuArrays& arrays) { gpu_ = &arrays; }
    /// Throws for what no compiled function takes; `name` is the parameter's.
    void add(PyObject* object, size_t parameter, const std::string& function, const std::string& name);

    /// One that the call leaves out, whose value is part of its type.
    void add_constant(lang::TypeRef type);

    struct Memory {
        char* data;
        size_t parameter;
        PyObject* object;  // borrowed: the array itself, or the one with the buffer
        bool only_read = false;
    };
    /// A global of a program, behind all arguments: only read.
    void add_global(PyObject* object, size_t parameter, const std::string& function);
    /// The functions among the arguments.
    const std::vector<uint64_t>& functions() const { return given_; }

    /// The arrays among the arguments, in order.
    const FewOf<Memory, 8>& arrays() const { return memory_; }
    const FewOf<Span, 8>& spans() const { return spans_; }
    /// Behind all that is added.
    void finish();
    GivenLists& lists() { return lists_; }
    const std::vector<GivenHashed>& hashed() const { return hashed_; }
    /// Of arrays that are on a GPU.
    HostCopies& host_copies() { return host_copies_; }
    bool has_host_copies() const { return !host_copies_.empty(); }
    /// NumPy's Generators among the arguments, by the addresses of their streams.
    const std::vector<std::pair<int64_t, nb::object>>& generators() const { return generators_; }
    /// Results are NumPy's arrays and Python's numbers, unless an argument is an array of weft's.
    void prefer_numpy() { prefers_numpy_ = true; }
    bool gives_numpy() const;
    const WordList& key() const { return key_; }
    const WordList& words() const { return words_; }
    WordList& words() { return words_; }
    /// Whether memory that is written may be read or written by another argument, too.
    bool overlaps(const std::vector<bool>& written) const;
    /// The types that the key stands for. Arrays share a scope where they may overlap, else each has its own.
    static std::vector<lang::TypeRef> types_of(const WordList& key, size_t count, bool may_overlap,
                                               const GivenFunctions& functions);

private:
    bool add_number(PyObject* object, const std::string& function, const std::string& name);
    void add_scalar(ScalarType type, bool weak, const void* bytes);
    void add_array(ScalarType type, char* data, std::span<const int64_t> shape,
                   std::span<const int64_t> strides, bool readonly, size_t parameter);
    bool add_structures(PyObject* object, size_t parameter);
    uint64_t key_of_shape(std::span<const int64_t> shape, std::span<const int64_t> strides, bool readonly,
                          bool contiguous) const;
    void add_memory(int64_t itemsize, char* data, std::span<const int64_t> shape,
                    std::span<const int64_t> strides, bool contiguous, size_t parameter);
    bool add_type(PyObject* object);
    bool add_generator(PyObject* object);
    bool add_record(PyObject* object, size_t parameter, const std::string& function, const std::string& name);
    bool add_buffer(PyObject* object, size_t parameter, const std::string& function, const std::string& name);
    bool add_shared(PyObject* object, size_t parameter, const std::string& function, const std::string& name);
    void add_text(PyObject* text);
    void add_hashed(PyObject* object, size_t parameter, const std::string& function, const std::string& name);
    void add_weft_array(array value, size_t parameter);
    // Its elements on the CPU; gives the array there.
    array take_to_host(array value, size_t parameter, bool writeable);

    void add_listed(PyObject* items, size_t parameter, const std::string& function, const std::string& name,
                    int depth);

    GivenFunctions& functions_;
    PyObject* current_ = nullptr;  // what is being added
    GpuArrays* gpu_ = nullptr;
    bool only_read_ = false, prefers_numpy_ = false;
    std::vector<uint64_t> given_;
    WordList key_, words_;
    FewOf<Span, 8> spans_;
    FewOf<Memory, 8> memory_;
    std::vector<HostView> views_;
    FewOf<Py_buffer, 6> buffers_;
    std::vector<nb::object> kept_;
    std::vector<std::pair<int64_t, nb::object>> generators_;
    HostCopies own_copies_;
    HostCopies& host_copies_ = own_copies_;
    GivenLists lists_;
    std::vector<GivenHashed> hashed_;
    std::vector<std::unique_ptr<CallArguments>> listed_;  // arrays in lists, each as an argument of its own
};

}  // namespace weft::python
