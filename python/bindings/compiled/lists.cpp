#include "compiled/lists.h"

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstring>
#include <functional>
#include <set>

#include "codegen/runtime/heap.h"
#include "compiled/arguments.h"
#include "convert/foreign_buffer.h"
#include "lang/containers/list_layout.h"
#include "lang/symbols.h"
#include "weft/errors.h"

namespace weft::python {

namespace {

// Of NumPy's scalars; `bytes` gets the value.
std::optional<ScalarType> numpy_scalar_type(PyObject* item, char* bytes) {
    if (PyObject_CheckBuffer(item) == 0 || !is_numpy_scalar(item)) return std::nullopt;
    Py_buffer buffer;
    if (PyObject_GetBuffer(item, &buffer, PyBUF_RECORDS_RO) != 0) throw_python_error();
    const std::optional<DType> dtype = native_format(buffer.format, buffer.itemsize);
    if (dtype && bytes != nullptr) std::memcpy(bytes, buffer.buf, static_cast<size_t>(buffer.itemsize));
    PyBuffer_Release(&buffer);
    return dtype ? std::optional(dtype->scalar_type()) : std::nullopt;
}

lang::TypeRef type_of_items(PyObject* list, const std::string& what, int depth, const ListedArrays& arrays);

lang::TypeRef type_of_item(PyObject* item, const std::string& what, int depth, const ListedArrays& arrays) {
    if (PyFloat_CheckExact(item)) return lang::scalar_type(ScalarType::kFloat64, true);
    if (PyLong_CheckExact(item)) return lang::scalar_type(ScalarType::kInt64, true);
    if (PyBool_Check(item)) return lang::scalar_type(ScalarType::kBool, true);
    if (PyComplex_CheckExact(item)) return lang::scalar_type(ScalarType::kComplex128, true);
    if (item == Py_None) return lang::simple_type(lang::TypeKind::kNone);
    if (PyUnicode_CheckExact(item)) return lang::text_type();
    if (is_scalar(item)) return lang::scalar_type(scalar_dtype(item).scalar_type());
    if (PyTuple_CheckExact(item)) {
        std::vector<lang::TypeRef> parts;
        for (Py_ssize_t i = 0; i < PyTuple_Size(item); ++i)
            parts.push_back(type_of_item(PyTuple_GetItem(item, i), what, depth, arrays));
        return lang::tuple_type(std::move(parts));
    }
    if (is_plain_list(item) && depth < kDeepestList) return type_of_items(item, what, depth + 1, arrays);
    if (const auto array = arrays.find(item); array != arrays.end()) return array->second.type;
    if (const std::optional<ScalarType> scalar = numpy_scalar_type(item, nullptr))
        return lang::scalar_type(*scalar);
    throw TypeError(
        what + " is a list with a " + type_name(item) +
        " in it, which compiled functions do not take: give lists of numbers, texts, tuples and lists");
}

lang::TypeRef type_of_items(PyObject* list, const std::string& what, int depth, const ListedArrays& arrays) {
    lang::TypeRef element = lang::simple_type(lang::TypeKind::kNever);
    for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
        lang::TypeRef item = type_of_item(PyList_GetItem(list, i), what, depth, arrays);
        if (item == element) continue;
        lang::TypeRef both = lang::join(element, item);
        if (both == nullptr)
            throw TypeError(what + " is a list of " + lang::describe(element) + " and " +
                            lang::describe(item) + ": the elements of a list are of one type");
        element = both;
    }
    return lang::list_type(element, 0);
}

// A number as one of the type.
void write_number(PyObject* item, ScalarType type, char* to) {
    const auto put = [&](const auto& value, ScalarType from) {
        const LoopInfo& loop = cast_loop(from, type);
        alignas(16) std::array<char, 16> source{}, target{};
        std::memcpy(source.data(), &value, sizeof(value));
        std::array<char*, 2> data = {source.data(), target.data()};
        const std::array<int64_t, 2> strides{};
        loop.loop(data.data(), strides.data(), 1);
        std::memcpy(to, target.data(), static_cast<size_t>(DType(type).itemsize()));
    };
    if (PyFloat_CheckExact(item)) return put(PyFloat_AsDouble(item), ScalarType::kFloat64);
    if (PyBool_Check(item)) return put(static_cast<uint8_t>(item == Py_True), ScalarType::kBool);
    if (PyLong_Check(item)) {
        int overflow = 0;
        const int64_t value = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow != 0) throw OverflowError("a list has an integer beyond 64 bits in it: give floats");
        return put(value, ScalarType::kInt64);
    }
    if (PyComplex_CheckExact(item))
        return put(std::array{PyComplex_RealAsDouble(item), PyComplex_ImagAsDouble(item)},
                   ScalarType::kComplex128);
    std::array<char, 16> bytes{};
    if (is_scalar(item)) {
        const DType dtype = scalar_dtype(item);
        std::memcpy(bytes.data(), scalar_bytes(item), static_cast<size_t>(dtype.itemsize()));
        return put(bytes, dtype.scalar_type());
    }
    const std::optional<ScalarType> scalar = numpy_scalar_type(item, bytes.data());
    if (!scalar) throw TypeError("a list was changed while it was read");
    put(bytes, *scalar);
}

// Memory of the call's, and its owner; `count` owners lie in it, from `from` on.
std::pair<char*, int64_t> allocate(int64_t bytes, int64_t from = 0, int64_t stride = 0, int64_t count = 0) {
    int64_t owner = 0;
    char* const data = codegen::heap_grow(bytes, &owner, 0, from, stride, count);
    if (data == nullptr) throw OutOfMemoryError("there is no memory for a list");
    return {data, owner};
}

}  // namespace

lang::TypeRef type_of_list(PyObject* list, const std::string& what, const ListedArrays& arrays) {
    return type_of_items(list, what, 0, arrays);
}

lang::TypeRef in_scope(lang::TypeRef type, uint16_t scope) {
    if (lang::is_array(type))
        return lang::array_type(type->scalar, type->rank, type->contiguous, type->readonly, scope,
                                type->owned, type->ordered);
    if (type->parts.empty() || type == lang::text_type()) return type;
    std::vector<lang::TypeRef> parts;
    for (lang::TypeRef part : type->parts) parts.push_back(in_scope(part, scope));
    return lang::with_parts(type, std::move(parts));
}

bool GivenLists::is_shared() const {
    if (given_.size() < 2) return false;
    std::map<PyObject*, size_t> seen;
    const std::function<bool(PyObject*, size_t)> visit = [&](PyObject* object, size_t parameter) {
        const bool is_list = is_plain_list(object);
        if (!is_list && PyTuple_CheckExact(object) == 0) return false;
        if (is_list) {
            const auto [found, is_new] = seen.try_emplace(object, parameter);
            if (!is_new) return found->second != parameter;
        }
        for (Py_ssize_t i = 0; i < (is_list ? PyList_Size(object) : PyTuple_Size(object)); ++i) {
            if (visit(is_list ? PyList_GetItem(object, i) : PyTuple_GetItem(object, i), parameter))
                return true;
        }
        return false;
    };
    return std::any_of(given_.begin(), given_.end(),
                       [&](const Given& given) { return visit(given.object, given.parameter); });
}

void GivenLists::copy_in(const std::vector<lang::TypeRef>& types, uint64_t* words) {
    // The lists of the types that are in no other list, in the order of the arguments.
    std::vector<lang::TypeRef> lists;
    const std::function<void(lang::TypeRef)> collect = [&](lang::TypeRef type) {
        if (lang::is_list(type)) return lists.push_back(type);
        for (lang::TypeRef part : type->parts) collect(part);
    };
    for (lang::TypeRef type : types) collect(type);
    for (size_t i = 0; i < given_.size(); ++i) {
        const Copy made = copy(given_[i].object, lists.at(i), given_[i].parameter);
        words[given_[i].word] = static_cast<uint64_t>(made.head);
        words[given_[i].word + 1] = static_cast<uint64_t>(made.owner);
    }
}

GivenLists::Copy GivenLists::copy(PyObject* list, lang::TypeRef type, size_t parameter) {
    if (const auto known = copies_.find(list); known != copies_.end()) return known->second;
    const int64_t length = PyList_Size(list);
    const lang::ItemLayout layout = lang::item_layout(type->parts[0]);
    constexpr auto kOwnerAt = static_cast<int64_t>(lang::ListWord::kOwner) * lang::kListWordSize;
    const auto [head, owner] = allocate(lang::kListHeadSize, kOwnerAt, 2 * lang::kListWordSize, 1);
    const auto [items, items_owner] = allocate(std::max<int64_t>(length, 1) * layout.stride, 0,
                                               layout.owners > 0 ? layout.stride : 0, layout.owners);
    const std::array<int64_t, 4> words = {length, std::max<int64_t>(length, 1), items_owner,
                                          reinterpret_cast<int64_t>(items)};
    std::memcpy(head, words.data(), sizeof(words));
    const Copy made{reinterpret_cast<int64_t>(head), owner, type, parameter};
    copies_.emplace(list, made);
    by_owner_.emplace(owner, nb::borrow(list));
    std::vector<int64_t> offsets;
    for (const lang::ItemPart& part : layout.parts) offsets.push_back(part.offset);
    for (int64_t i = 0; i < length; ++i) {
        size_t part = 0;
        write(PyList_GetItem(list, static_cast<Py_ssize_t>(i)), type->parts[0], items + i * layout.stride,
              offsets, part, parameter);
    }
    return made;
}

void GivenLists::write(PyObject* item, lang::TypeRef type, char* to, const std::vector<int64_t>& offsets,
                       size_t& part, size_t parameter) {
    const auto put = [&](int64_t word) { std::memcpy(to + offsets[part++], &word, sizeof(word)); };
    switch (type->kind) {
        case lang::TypeKind::kScalar: write_number(item, type->scalar, to + offsets[part++]); return;
        case lang::TypeKind::kOptional: {
            const bool bound = item != Py_None;
            to[offsets[part++]] = static_cast<char>(bound);
            if (bound) return write(item, type->parts[0], to, offsets, part, parameter);
            part += lang::part_count(type->parts[0]);  // owners are 0
            return;
        }
        case lang::TypeKind::kRecord: {  // a text
            const nb::object bytes =
                steal_or_throw(PyUnicode_AsEncodedString(item, "utf-32-le", "surrogatepass"));
            const Py_ssize_t size = PyBytes_Size(bytes.ptr());
            const auto [data, owner] = allocate(std::max<int64_t>(size, 1));
            std::memcpy(data, PyBytes_AsString(bytes.ptr()), static_cast<size_t>(size));
            put(reinterpret_cast<int64_t>(data));
            put(owner);
            put(size / 4);
            return;
        }
        case lang::TypeKind::kTuple:
            for (size_t i = 0; i < type->parts.size(); ++i)
                write(PyTuple_GetItem(item, static_cast<Py_ssize_t>(i)), type->parts[i], to, offsets, part,
                      parameter);
            return;
        case lang::TypeKind::kArray: {
            const ListedArray& array = arrays_.at(item);
            size_t word = 0;
            const auto next = [&] { return static_cast<int64_t>(array.words[word++]); };
            put(next());
            if (type->owned) put(0);  // nobody's but the program's
            for (size_t d = 0; d < type->rank; ++d) put(next());
            for (size_t d = 0; d + (type->contiguous ? 1 : 0) < type->rank; ++d)
                put(word < array.words.size() ? next() : DType(type->scalar).itemsize());
            return;
        }
        case lang::TypeKind::kList: {
            const Copy inner = copy(item, type, parameter);
            codegen::heap_retain(inner.owner);
            put(inner.head);
            put(inner.owner);
            return;
        }
        default: return;
    }
}

// As hash() is compiled (lang/builtins.cpp, lang/strings/strings.cpp): CPython's but of texts.
static uint64_t hash_of(PyObject* item) {
    if (PyUnicode_CheckExact(item)) {
        uint64_t hash = 14695981039346656037U;
        const nb::object bytes =
            steal_or_throw(PyUnicode_AsEncodedString(item, "utf-32-le", "surrogatepass"));
        for (Py_ssize_t at = 0; at < PyBytes_Size(bytes.ptr()); at += 4) {
            uint32_t point = 0;
            std::memcpy(&point, PyBytes_AsString(bytes.ptr()) + at, sizeof(point));
            hash = (hash ^ point) * 1099511628211U;
        }
        return hash;
    }
    if (PyTuple_CheckExact(item)) {
        constexpr std::array<uint64_t, 3> kPrimes{11400714785074694791U, 14029467366897019727U,
                                                  2870177450012600261U};
        const Py_ssize_t count = PyTuple_Size(item);
        uint64_t sum = kPrimes[2];
        for (Py_ssize_t i = 0; i < count; ++i)
            sum = std::rotl(sum + hash_of(PyTuple_GetItem(item, i)) * kPrimes[1], 31) * kPrimes[0];
        sum += static_cast<uint64_t>(count) ^ (kPrimes[2] ^ 3527539U);
        return sum == UINT64_MAX ? 1546275796U : sum;
    }
    const Py_hash_t hash = PyObject_Hash(item);
    if (hash == -1) throw_python_error();
    return static_cast<uint64_t>(hash);
}

nb::object table_of(PyObject* items) {
    const auto count = static_cast<size_t>(PyList_Size(items));
    size_t size = 8;
    while (2 * count > size) size *= 2;
    std::vector<size_t> table(size);
    for (size_t i = 0; i < count; ++i) {
        const auto hash = static_cast<int64_t>(hash_of(PyList_GetItem(items, static_cast<Py_ssize_t>(i))));
        auto place = static_cast<size_t>(hash ^ hash >> 7 ^ hash >> 14 ^ hash >> 28) & (size - 1);
        while (table[place] != 0) place = (place + 1) & (size - 1);
        table[place] = i + 1;
    }
    nb::list made;
    for (const size_t number : table) made.append(number);
    return made;
}

void GivenHashed::copy_back() const {
    const bool is_dict = values.is_valid();
    if (is_dict) PyDict_Clear(object);
    if (!is_dict && PySet_Clear(object) != 0) throw_python_error();
    for (Py_ssize_t i = 0; i < PyList_Size(items.ptr()); ++i) {
        PyObject* const item = PyList_GetItem(items.ptr(), i);
        const int failed =
            is_dict ? PyDict_SetItem(object, item, PyList_GetItem(values.ptr(), i)) : PySet_Add(object, item);
        if (failed != 0) throw_python_error();
    }
}

void number_lists(std::vector<lang::TypeRef>& types, bool shared) {
    // Lists of one type in one parameter may be one, and in all where some are.
    std::map<lang::TypeRef, uint32_t> numbers;
    uint32_t next = 0;
    const std::function<lang::TypeRef(lang::TypeRef)> numbered = [&](lang::TypeRef type) -> lang::TypeRef {
        if (type->parts.empty()) return type;
        std::vector<lang::TypeRef> parts;
        for (lang::TypeRef part : type->parts) parts.push_back(numbered(part));
        const bool is_hashed = type->record == lang::set_record() || type->record == lang::dict_record();
        for (lang::TypeRef& part : parts)  // the table is none of the others
            if (is_hashed) part = lang::list_type(part->parts[0], next++);
        if (!lang::is_list(type)) return lang::with_parts(type, std::move(parts));
        const auto [found, is_new] = numbers.try_emplace(type, next);
        if (is_new) ++next;
        return lang::list_type(parts[0], found->second);
    };
    for (lang::TypeRef& type : types) {
        if (!shared) numbers.clear();
        type = numbered(type);
    }
}

}  // namespace weft::python
