// Python's lists as arguments of compiled functions: copied in for the call, and back where it changes them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "convert/convert.h"
#include "lang/types.h"
#include "objects/objects.h"

namespace weft::python {

/// A list, or an object of a class that says it is one in all it does, as typed.List of weft.numba.
inline bool is_plain_list(PyObject* object) {
    return PyList_CheckExact(object) != 0 ||
           (PyList_Check(object) != 0 && nb::hasattr(nb::handle(object), "_is_plain_list"));
}

constexpr int kDeepestList = 20;  // lists in lists

/// An array in a list: its type, without a scope, and its words as an argument's.
struct ListedArray {
    lang::TypeRef type = nullptr;
    std::vector<uint64_t> words{};
};
using ListedArrays = std::map<PyObject*, ListedArray>;

/// The type of a list, without the numbers of lists and the scopes of arrays. `what` names it in errors.
lang::TypeRef type_of_list(PyObject* list, const std::string& what, const ListedArrays& arrays);
/// The same with the scope of its arrays.
lang::TypeRef in_scope(lang::TypeRef type, uint16_t scope);

/// The lists among the arguments of a call.
class GivenLists {
public:
    struct Given {
        PyObject* object;  // borrowed
        size_t parameter;
        size_t word;  // the first of two words that the code is given
    };
    void add(PyObject* object, size_t parameter, size_t word) { given_.push_back({object, parameter, word}); }
    ListedArrays& arrays() { return arrays_; }
    bool empty() const { return given_.empty(); }
    /// Whether a list is in several parameters.
    bool is_shared() const;

    /// Copies them into memory of the thread's HeapFrame, as the types that they have in the code.
    void copy_in(const std::vector<lang::TypeRef>& types, uint64_t* words);
    /// Lists by their owners.
    const std::map<int64_t, nb::object>& by_owner() const { return by_owner_; }

    struct Copy {
        int64_t head, owner;
        lang::TypeRef type;
        size_t parameter;
    };
    const std::map<PyObject*, Copy>& copies() const { return copies_; }

private:
    Copy copy(PyObject* list, lang::TypeRef type, size_t parameter);
    void write(PyObject* item, lang::TypeRef type, char* to, const std::vector<int64_t>& offsets,
               size_t& part, size_t parameter);

    std::vector<Given> given_;
    ListedArrays arrays_;
    std::map<PyObject*, Copy> copies_;
    std::map<int64_t, nb::object> by_owner_;
};

/// A set or a dictionary among the arguments, which is given as lists.
struct GivenHashed {
    PyObject* object;          // borrowed
    nb::object items, values;  // no values of a set
    size_t parameter;

    /// Makes it of what the lists have now.
    void copy_back() const;
};

/// The table of a set's items, or a dictionary's keys (lang/prelude/of_number_sets.py).
nb::object table_of(PyObject* items);

/// Gives the lists in the types of arguments their numbers: lists of one number may be one list.
void number_lists(std::vector<lang::TypeRef>& types, bool shared);

}  // namespace weft::python
