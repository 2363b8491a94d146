// The arguments of a call of a compiled function: their types as a key, and the words that its code is given.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "device/kernel.h"
#include "lang/types.h"
#include "objects/objects.h"

namespace weft::python {

/// Numbers that are nearly always few.
class WordList {
public:
    void push(uint64_t word) {
        if (count_ < kInline) {
            inline_[count_++] = word;
            return;
        }
        if (spilled_.empty()) spilled_.assign(inline_.begin(), inline_.end());
        spilled_.push_back(word);
        ++count_;
    }
    const uint64_t* data() const { return spilled_.empty() ? inline_.data() : spilled_.data(); }
    size_t size() const { return count_; }
    bool operator==(const std::vector<uint64_t>& other) const {
        return count_ == other.size() && std::equal(other.begin(), other.end(), data());
    }

private:
    static constexpr size_t kInline = 40;
    std::array<uint64_t, kInline> inline_;
    size_t count_ = 0;
    std::vector<uint64_t> spilled_;
};

/// An array among the arguments: the memory that it spans, and whose parameter it is.
struct Span {
    uintptr_t begin = 0, end = 0;
    size_t parameter = 0;
};

class CallArguments {
public:
    CallArguments() = default;
    CallArguments(const CallArguments&) = delete;
    CallArguments& operator=(const CallArguments&) = delete;
    ~CallArguments();

    /// Throws for what no compiled function takes; `name` is the parameter's.
    void add(PyObject* object, size_t parameter, const std::string& function, const std::string& name);

    struct Memory {
        char* data = nullptr;
        size_t parameter = 0;
        PyObject* object = nullptr;  // borrowed: the array itself, or the one with the buffer
    };
    /// The arrays among the arguments, in order.
    const std::vector<Memory>& arrays() const { return memory_; }
    const std::vector<Span>& spans() const { return spans_; }
    const WordList& key() const { return key_; }
    const WordList& words() const { return words_; }
    /// Whether memory that is written may be read or written by another argument, too.
    bool overlaps(const std::vector<bool>& written) const;
    /// The types that the key stands for. Arrays share a scope where they may overlap, else each has its own.
    static std::vector<lang::TypeRef> types_of(const WordList& key, size_t count, bool may_overlap);

private:
    bool add_number(PyObject* object);
    void add_scalar(ScalarType type, bool weak, const void* bytes);
    void add_array(ScalarType type, char* data, std::span<const int64_t> shape,
                   std::span<const int64_t> strides, bool readonly, size_t parameter);
    bool add_buffer(PyObject* object, size_t parameter, const std::string& function, const std::string& name);

    PyObject* current_ = nullptr;  // what is being added
    WordList key_, words_;
    std::vector<Span> spans_;
    std::vector<Memory> memory_;
    std::vector<HostView> views_;
    std::vector<Py_buffer> buffers_;
    std::vector<nb::object> kept_;
};

}  // namespace weft::python
