#include "compiled/results.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "compiled/layouts.h"
#include "compiled/numpy_fields.h"
#include "compiled/records.h"
#include "convert/convert.h"
#include "convert/foreign_buffer.h"
#include "lang/containers/list_layout.h"
#include "lang/containers/literal_lists.h"
#include "package.h"

namespace weft::python {

namespace {

// weft.finfo or weft.iinfo, by the fields that the compiled function has of it.
nb::object limits_of(const lang::Record& record, const nb::object& fields) {
    const std::string kind = record.name == "finfo"                        ? "float"
                             : nb::cast<int64_t>(fields[nb::int_(1)]) == 0 ? "uint"
                                                                           : "int";
    const std::string dtype = kind + std::to_string(nb::cast<int64_t>(fields[nb::int_(0)]));
    return nb::module_::import_(modules::kRoot).attr(record.name.c_str())(dtype);
}

}  // namespace

nb::object Results::next(lang::TypeRef type) {
    switch (type->kind) {
        case lang::TypeKind::kScalar: {
            const char* const bytes = at_;
            at_ += 16;
            switch (type->scalar) {
                case ScalarType::kBool:
                case ScalarType::kInt64:
                case ScalarType::kFloat64:
                case ScalarType::kComplex128: return element_to_python(DType(type->scalar), bytes);
                default:
                    return gives_numpy() ? element_to_python(DType(type->scalar), bytes)
                                         : wrap_scalar(DType(type->scalar), bytes);
            }
        }
        case lang::TypeKind::kRecord:
            if (type->record == lang::generator_record()) return generator_at(word());
            if (type->record == lang::string_record()) return next_text(type->parts[0]);
            if (const lang::DateType* const date = lang::date_of(type->record))
                return make_date(*date, word());
            [[fallthrough]];
        case lang::TypeKind::kTuple: {
            nb::object tuple = steal_or_throw(PyTuple_New(static_cast<Py_ssize_t>(type->parts.size())));
            for (size_t i = 0; i < type->parts.size(); ++i) {
                nb::object item = next(type->parts[i]);
                PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), item.release().ptr());
            }
            if (lang::is_literal_list(type)) return steal_or_throw(PySequence_List(tuple.ptr()));
            if (type->record == nullptr) return tuple;
            if (arguments_ != nullptr && !arguments_->hashed().empty()) {
                for (const GivenHashed& given : arguments_->hashed())
                    if (given.items.is(nb::object(tuple[0]))) return nb::borrow(given.object);
            }
            if (type->record == lang::dict_record()) {
                const nb::object pairs = nb::module_::import_("builtins").attr("zip")(tuple[0], tuple[2]);
                nb::dict made;
                for (nb::handle pair : pairs) made[pair[0]] = pair[1];
                return made;
            }
            if (lang::is_set_record(type->record))
                return steal_or_throw(PySet_New(nb::object(tuple[0]).ptr()));
            return type->record->handle == nullptr ? limits_of(*type->record, tuple)
                                                   : make_instance(*type->record, tuple);
        }
        case lang::TypeKind::kFormat: {
            nb::list values;
            for (lang::TypeRef part : type->parts) values.append(next(part));
            return nb::str(type->text.c_str(), type->text.size())
                .attr("format")(*nb::borrow<nb::args>(nb::tuple(values)));
        }
        case lang::TypeKind::kString: return nb::str(type->text.c_str(), type->text.size());
        case lang::TypeKind::kChoice: {
            const std::string& text = type->parts[static_cast<size_t>(word())]->text;
            return nb::str(text.c_str(), text.size());
        }
        case lang::TypeKind::kEllipsis: return nb::borrow(Py_Ellipsis);
        case lang::TypeKind::kSlice: {
            const nb::object start = next(type->parts[0]), stop = next(type->parts[1]),
                             step = next(type->parts[2]);
            return steal_or_throw(PySlice_New(start.ptr(), stop.ptr(), step.ptr()));
        }
        case lang::TypeKind::kArray: {
            if (lang::is_bytes(type)) return next_bytes(type);
            nb::object made = next_array(type);
            if (!is_array(made.ptr()) || !gives_numpy()) return made;
            return nb::module_::import_("numpy").attr("asarray")(made);
        }
        case lang::TypeKind::kStructures: return next_structures(type);
        case lang::TypeKind::kSymbol: {
            const lang::Symbol* const symbol = type->symbol;
            if (symbol == nullptr || symbol->kind != lang::SymbolKind::kKnown) return nb::none();
            if (symbol->layout != nullptr) return dtype_of(*symbol->layout);
            const char* const package = gives_numpy() ? "numpy" : modules::kRoot;
            return nb::module_::import_(package).attr("dtype")(symbol->name);
        }
        case lang::TypeKind::kList: return next_list(type);
        case lang::TypeKind::kGenerator: {
            auto* const head = reinterpret_cast<int64_t*>(word());
            word();
            return maker_->make(type, head);
        }
        case lang::TypeKind::kOptional: {
            const bool bound = *at_ != 0;
            at_ += 16;
            if (bound) return next(type->parts[0]);
            at_ += 16 * lang::part_count(type->parts[0]);
            return nb::none();
        }
        default: return nb::none();
    }
}

nb::object Results::generator_at(int64_t address) const {
    for (const auto& [stream, object] : arguments_->generators()) {
        if (stream == address) return object;
    }
    return nb::none();
}

int64_t Results::word() {
    int64_t value = 0;
    std::memcpy(&value, at_, sizeof(value));
    at_ += 16;
    return value;
}

// Whether weft's own arrays may be there.
static bool is_aligned(DType dtype, const char* data, const Dims& strides) {
    const int64_t unit = dtype.alignment();
    return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(unit) == 0 &&
           std::all_of(strides.begin(), strides.end(), [&](int64_t stride) { return stride % unit == 0; });
}

nb::object Results::next_array(lang::TypeRef type) {
    char* const data = reinterpret_cast<char*>(word());
    const int64_t owner = type->owned ? word() : 0;
    Dims shape, strides;
    for (size_t d = 0; d < type->rank; ++d) shape.push_back(word());
    for (size_t d = 0; d + (type->contiguous ? 1 : 0) < type->rank; ++d) strides.push_back(word());
    const DType dtype(type->scalar);
    if (type->contiguous) strides.push_back(dtype.itemsize());
    if (!is_aligned(dtype, data, strides)) {  // fields of packed structures
        const nb::object theirs =
            nb::module_::import_("numpy").attr("dtype")(std::string(dtype.name()).c_str());
        return make_host_array(theirs, data, shape, strides, !type->readonly, keeper_of(data, owner));
    }
    if (arguments_ == nullptr)  // of what is told
        return wrap(share(data, dtype, shape, strides, false, [] {}));
    if (owner != 0) {
        const codegen::HeapMemory memory = frame_->take(owner);
        if (shares_)
            return wrap(share(data, dtype, shape, strides, !type->readonly,
                              [held = memory.holder]() mutable { held.reset(); }));
        const auto buffer = std::static_pointer_cast<BufferPtr>(memory.holder);
        // Arrays of one block are views of one storage.
        const auto [storage, is_new] = storages_.try_emplace(owner);
        if (is_new) storage->second = std::make_shared<Storage>(*buffer);
        nb::object result = wrap(array(storage->second, dtype, std::move(shape), std::move(strides),
                                       data - memory.data, !type->readonly));
        return arguments_->has_host_copies() ? arguments_->host_copies().on_device(std::move(result))
                                             : result;
    }
    nb::object result = of_argument(data, dtype, shape, strides, type->readonly);
    if (arguments_->has_host_copies() && arguments_->host_copies().contains(holder_of(data))) [[unlikely]]
        return arguments_->host_copies().on_device(std::move(result));
    return result;
}

nb::object Results::next_bytes(lang::TypeRef type) {
    const char* const data = reinterpret_cast<const char*>(word());
    if (type->owned) word();
    const auto length = static_cast<Py_ssize_t>(word());
    const int64_t stride = type->contiguous ? 1 : word();
    if (arguments_ != nullptr) {
        for (const CallArguments::Memory& memory : arguments_->arrays()) {
            if (memory.data == data && PyBytes_CheckExact(memory.object) &&
                PyBytes_Size(memory.object) == length)
                return nb::borrow(memory.object);
        }
    }
    std::string bytes;
    for (Py_ssize_t i = 0; i < length; ++i) bytes += data[i * stride];
    return nb::bytes(bytes.data(), bytes.size());
}

// Its memory stays the frame's, and ends with it.
nb::object Results::next_text(lang::TypeRef points) {
    const int64_t address = word();
    if (points->owned) word();
    const int64_t length = word();
    int byte_order = -1;  // little-endian, and no mark of it is looked for
    return steal_or_throw(PyUnicode_DecodeUTF32(reinterpret_cast<const char*>(address), 4 * length,
                                                "surrogatepass", &byte_order));
}

// The argument itself where it is the same, else one that keeps the memory.
nb::object Results::next_structures(lang::TypeRef type) {
    char* const data = reinterpret_cast<char*>(word());
    const int64_t owner = type->owned ? word() : 0;
    Dims shape, strides;
    for (size_t d = 0; d < type->rank; ++d) shape.push_back(word());
    for (size_t d = 0; d + (type->contiguous ? 1 : 0) < type->rank; ++d) strides.push_back(word());
    if (type->contiguous) strides.push_back(type->layout->size);
    if (owner == 0 && arguments_ != nullptr) {
        for (const CallArguments::Memory& memory : arguments_->arrays()) {
            if (memory.data != data) continue;
            const std::optional<Structures> given = structures_of(memory.object);
            if (given && given->layout == type->layout && given->is_single == type->single &&
                std::equal(shape.begin(), shape.end(), given->shape.begin(), given->shape.end()) &&
                std::equal(strides.begin(), strides.end(), given->strides.begin(), given->strides.end()))
                return nb::borrow(memory.object);
        }
    }
    return make_structures(*type->layout, data, shape, strides, !type->readonly, type->single,
                           keeper_of(data, owner));
}

nb::object Results::keeper_of(const char* data, int64_t owner) const {
    if (arguments_ == nullptr) return nb::none();
    if (owner != 0) {
        using Held = std::shared_ptr<void>;
        return nb::capsule(new Held(frame_->take(owner).holder),
                           [](void* held) noexcept { delete static_cast<Held*>(held); });
    }
    PyObject* const holder = holder_of(data);
    return holder == nullptr ? nb::none() : nb::borrow(holder);
}

// Whose memory an address is in; null where it is no argument's.
PyObject* Results::holder_of(const char* data) const {
    for (const CallArguments::Memory& memory : arguments_->arrays()) {
        if (memory.data == data) return memory.object;
    }
    const auto address = reinterpret_cast<uintptr_t>(data);
    for (const Span& span : arguments_->spans()) {
        if (address < span.begin || address >= span.end) continue;
        for (const CallArguments::Memory& memory : arguments_->arrays()) {
            if (memory.parameter == span.parameter) return memory.object;
        }
    }
    return nullptr;
}

// The same list each time that it is met.
nb::object Results::next_list(lang::TypeRef type) {
    const auto* const head = reinterpret_cast<const int64_t*>(word());
    const int64_t owner = word();
    const auto known = lists_.find(owner);
    if (known != lists_.end()) return known->second;
    return lists_[owner] = items_of(head, type);
}

nb::object Results::items_of(const int64_t* head, lang::TypeRef type) {
    const auto at = [&](lang::ListWord which) { return head[static_cast<size_t>(which)]; };
    const int64_t length = at(lang::ListWord::kLength);
    const char* items = reinterpret_cast<const char*>(at(lang::ListWord::kAddress));
    lang::TypeRef element = type->parts[0];
    const lang::ItemLayout layout = lang::item_layout(element);
    nb::object list = steal_or_throw(PyList_New(static_cast<Py_ssize_t>(length)));
    std::vector<char> values(16 * std::max<size_t>(layout.parts.size(), 1));
    for (int64_t i = 0; i < length; ++i, items += layout.stride) {
        for (size_t k = 0; k < layout.parts.size(); ++k)
            std::memcpy(values.data() + 16 * k, items + layout.parts[k].offset,
                        static_cast<size_t>(DType(layout.parts[k].type).itemsize()));
        const char* const outside = std::exchange(at_, values.data());
        nb::object item = next(element);
        at_ = outside;
        PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i), item.release().ptr());
    }
    return list;
}

// Arrays are none: a list of arrays has others where they were assigned.
static bool is_number(PyObject* object) {
    return PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object) || is_scalar(object) ||
           is_numpy_scalar(object);
}

// An int that became a float to be of the list's type, and is what it was, stays an int.
void Results::copy_back(const std::vector<bool>& written) {
    for (const auto& [list, copy] : arguments_->lists().copies()) {
        if (!written[copy.parameter]) continue;
        const nb::object items = items_of(reinterpret_cast<const int64_t*>(copy.head), copy.type);
        const Py_ssize_t both = std::min(PyList_Size(list), PyList_Size(items.ptr()));
        for (Py_ssize_t i = 0; i < both; ++i) {
            PyObject* const before = PyList_GetItem(list, i);
            PyObject* const now = PyList_GetItem(items.ptr(), i);
            if (Py_TYPE(before) == Py_TYPE(now) || !is_number(before) || !is_number(now)) continue;
            const int same = PyObject_RichCompareBool(before, now, Py_EQ);
            if (same < 0) throw_python_error();
            if (same == 1) PyList_SetItem(items.ptr(), i, Py_NewRef(before));
        }
        if (PyList_SetSlice(list, 0, PyList_Size(list), items.ptr()) != 0) throw_python_error();
    }
    for (const GivenHashed& given : arguments_->hashed())
        if (written[given.parameter]) given.copy_back();
}

// Whether an array of NumPy's is just that.
bool is_same_of_numpy(PyObject* object, const char* data, DType dtype, const Dims& shape, const Dims* strides,
                      bool stays_readonly) {
    const std::optional<NumpyFields> fields = numpy_fields(object);
    return fields && !(stays_readonly && fields->writeable) && fields->data == data &&
           DType(fields->type) == dtype &&
           std::equal(shape.begin(), shape.end(), fields->shape.begin(), fields->shape.end()) &&
           (strides == nullptr ||
            std::equal(strides->begin(), strides->end(), fields->strides.begin(), fields->strides.end()));
}

// Memory of an argument: the argument itself where it is the same array, else an array that keeps it.
nb::object Results::of_argument(char* data, DType dtype, const Dims& shape, const Dims& strides,
                                bool readonly) const {
    const bool is_empty = std::ranges::find(shape, 0) != shape.end();  // strides say nothing then
    for (const CallArguments::Memory& memory : arguments_->arrays()) {
        // A view that may not be written is not the argument, which may; globals are only read.
        const bool stays_readonly = readonly && !memory.only_read;
        if (memory.data == data && is_array(memory.object) && array_of(memory.object).shape() == shape &&
            (is_empty || array_of(memory.object).strides() == strides) &&
            array_of(memory.object).dtype() == dtype &&
            !(stays_readonly && array_of(memory.object).writeable()))
            return nb::borrow(memory.object);
        if (memory.data == data && is_same_of_numpy(memory.object, data, dtype, shape,
                                                    is_empty ? nullptr : &strides, stays_readonly))
            return nb::borrow(memory.object);
    }
    PyObject* const holder = holder_of(data);
    if (holder == nullptr) return wrap(empty(shape, dtype));  // without elements
    const bool of_weft = is_array(holder);
    auto view = std::make_shared<HostView>(of_weft ? HostView(array_of(holder), !readonly) : HostView());
    // Elements of structures (numpy.void) lend their memory for reading alone, also where it may be written.
    std::shared_ptr<const HeldBuffer> buffer = of_weft ? nullptr : HeldBuffer::of(holder, PyBUF_RECORDS_RO);
    return wrap(share(data, dtype, shape, strides, !readonly, [view, buffer]() mutable {
        view.reset();
        buffer.reset();
    }));
}

nb::object told_values(const lang::Site& site, const char* payload) {
    Results told(payload);
    nb::list values;
    const std::function<bool(lang::TypeRef)> has_array = [&](lang::TypeRef type) {
        return lang::is_strided(type) || std::any_of(type->parts.begin(), type->parts.end(), has_array);
    };
    for (lang::TypeRef type : site.told) {
        const nb::object value = told.next(type);
        values.append(has_array(type) ? nb::object(nb::str(value)) : value);
    }
    return nb::tuple(values);
}

}  // namespace weft::python
