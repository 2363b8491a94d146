#include "compiled/arguments.h"

#include "compiled/numpy_fields.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "compiled/device_structures.h"
#include "compiled/layouts.h"
#include "compiled/records.h"
#include "convert/foreign_buffer.h"
#include "graph/storage.h"
#include "package.h"
#include "weft/errors.h"

namespace weft::python {

namespace {

// A key is a number for each scalar or array, in order; a tuple's comes before those of its items.
enum class KeyKind : uint64_t {
    kScalar = 1,
    kArray,
    kNone,
    kTuple,
    kFunction,
    kRecord,
    kText,
    kList,
    kShared,
    kSlice,
    kEllipsis,
    kStructures,
    kConstant
};
constexpr int kKindShift = 56;
constexpr uint64_t kWeak = 1U << 8, kReadonly = 1U << 8, kContiguous = 1U << 9, kSingle = 1U << 10,
                   kOrdered = 1U << 11, kBytes = 1U << 12;
constexpr int kRankShift = 16;

// The last dimension's stride is that of elements one behind the other.
bool lies_contiguously(int64_t itemsize, std::span<const int64_t> shape, std::span<const int64_t> strides) {
    return !shape.empty() && (strides.back() == itemsize || shape.back() <= 1);
}

// The strides of dimensions of several elements never grow from one to the next.
bool lies_in_order_of_c(std::span<const int64_t> shape, std::span<const int64_t> strides) {
    int64_t before = INT64_MAX;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] <= 1) continue;
        const int64_t stride = std::abs(strides[d]);
        if (stride > before) return false;
        before = stride;
    }
    return true;
}

uint64_t key_of(KeyKind kind, uint64_t details) {
    return static_cast<uint64_t>(kind) << kKindShift | details;
}

lang::TypeRef take_type(const uint64_t*& key, bool may_overlap, uint16_t scope,
                        const GivenFunctions& functions) {
    const uint64_t code = *key++;
    const auto scalar = static_cast<ScalarType>(code & 0xFF);
    switch (static_cast<KeyKind>(code >> kKindShift)) {
        case KeyKind::kScalar: return lang::scalar_type(scalar, (code & kWeak) != 0);
        case KeyKind::kArray: {
            lang::TypeRef type = lang::array_type(scalar, static_cast<int>(code >> kRankShift & 0xFF),
                                                  (code & kContiguous) != 0, (code & kReadonly) != 0,
                                                  may_overlap ? 0 : scope, false, (code & kOrdered) != 0);
            return (code & kBytes) != 0 ? lang::bytes_type(type) : type;
        }
        case KeyKind::kStructures: {
            lang::TypeRef like = lang::array_type(
                ScalarType::kUInt8, static_cast<int>(code >> kRankShift & 0xFF), (code & kContiguous) != 0,
                (code & kReadonly) != 0, may_overlap ? 0 : scope, false, (code & kOrdered) != 0);
            lang::TypeRef type = lang::structures_type(reinterpret_cast<const lang::Layout*>(*key++), like);
            return (code & kSingle) != 0 ? lang::single_type(type) : type;
        }
        case KeyKind::kTuple: {
            std::vector<lang::TypeRef> parts;
            for (uint64_t count = code & 0xFFFFFFFF; count > 0; --count)
                parts.push_back(take_type(key, may_overlap, scope, functions));
            return lang::tuple_type(std::move(parts));
        }
        case KeyKind::kText:
            if ((code & 1) != 0) return lang::text_type();
            return lang::string_type(*reinterpret_cast<const std::string*>(*key++));
        case KeyKind::kRecord: {
            const auto* const record = reinterpret_cast<const lang::Record*>(*key++);
            std::vector<lang::TypeRef> parts;
            for (size_t i = 0; i < (record->is_enumeration ? 1 : record->fields.size()); ++i)
                parts.push_back(take_type(key, may_overlap, scope, functions));
            return lang::record_type(record, std::move(parts));
        }
        case KeyKind::kList:
            return in_scope(reinterpret_cast<lang::TypeRef>(*key++), may_overlap ? 0 : scope);
        case KeyKind::kSlice: {
            std::vector<lang::TypeRef> bounds;
            for (int i = 0; i < 3; ++i) bounds.push_back(take_type(key, may_overlap, scope, functions));
            return lang::slice_type(std::move(bounds));
        }
        case KeyKind::kEllipsis: return lang::simple_type(lang::TypeKind::kEllipsis);
        case KeyKind::kConstant: return reinterpret_cast<lang::TypeRef>(*key++);
        case KeyKind::kFunction: return functions.type_of(code & 0xFFFFFFFF);
        case KeyKind::kShared:
        case KeyKind::kNone: break;
    }
    return lang::simple_type(lang::TypeKind::kNone);
}

// Neither an array nor anything that is asked whether it is one.
bool is_plain(PyObject* object) {
    return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyTuple_CheckExact(object) ||
           PyBool_Check(object) || object == Py_None;
}

}  // namespace

bool is_numpy_scalar(PyObject* object) {
    static nb::object generic;
    if (!generic.is_valid()) {
        PyObject* const modules = PySys_GetObject("modules");
        PyObject* const numpy = modules == nullptr ? nullptr : PyDict_GetItemString(modules, "numpy");
        if (numpy == nullptr) return false;
        generic = nb::handle(numpy).attr("generic");
        generic.inc_ref();  // for the life of the process
    }
    return PyObject_IsInstance(object, generic.ptr()) == 1;
}

CallArguments::~CallArguments() {
    for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
}

bool GivenFunctions::knows(const std::string& text) {
    if (knows_all_texts_ || texts_.contains(text)) return true;
    if (texts_.size() >= kMostTexts) return false;
    texts_.insert(text);
    return true;
}

bool GivenFunctions::know_all_texts() {
    const bool had_others = !knows_all_texts_ && texts_.size() >= kMostTexts;
    knows_all_texts_ |= had_others;
    return had_others;
}

uint64_t GivenFunctions::number_of(PyObject* object) {
    for (size_t i = 0; i < given_.size(); ++i) {
        if (given_[i].function.ptr() == object) return i;
    }
    const nb::handle function(object);
    nb::object called = nb::module_::import_(modules::kJit).attr("called_function")(function);
    if (called.is_none()) called = nb::borrow(function);
    Given given{
        nb::borrow(function),
        make_program(python_function(called), nb::getattr(called, "_text", nb::none()), fast_math_of(called)),
        nullptr, nullptr};
    auto symbol = std::make_shared<lang::Symbol>();
    symbol->kind = lang::SymbolKind::kFunction;
    symbol->name = given.program->entry().name;
    symbol->function = &given.program->entry();
    given.type = lang::symbol_type(symbol.get());
    given.symbol = std::move(symbol);
    given_.push_back(std::move(given));
    return given_.size() - 1;
}

bool GivenFunctions::is_current() const {
    return std::all_of(given_.begin(), given_.end(),
                       [](const Given& given) { return given.program->is_current(); });
}

std::vector<std::shared_ptr<const Program>> GivenFunctions::programs() const {
    std::vector<std::shared_ptr<const Program>> all;
    for (const Given& given : given_) all.push_back(given.program);
    return all;
}

std::vector<lang::TypeRef> CallArguments::types_of(const WordList& key, size_t count, bool may_overlap,
                                                   const GivenFunctions& functions) {
    std::vector<lang::TypeRef> types;
    const uint64_t* at = key.data();
    for (size_t i = 0; i < count; ++i)
        types.push_back(take_type(at, may_overlap, static_cast<uint16_t>(i + 1), functions));
    number_lists(types, at != key.end());
    return types;
}

void CallArguments::add_scalar(ScalarType type, bool weak, const void* bytes) {
    key_.push_back(key_of(KeyKind::kScalar, static_cast<uint64_t>(type) | (weak ? kWeak : 0)));
    const auto size = static_cast<size_t>(DType(type).itemsize());
    std::array<uint64_t, 2> words{};
    std::memcpy(words.data(), bytes, size);
    words_.push_back(words[0]);
    if (size > 8) words_.push_back(words[1]);
}

void CallArguments::add_array(ScalarType type, char* data, std::span<const int64_t> shape,
                              std::span<const int64_t> strides, bool readonly, size_t parameter) {
    const int64_t itemsize = DType(type).itemsize();
    const bool contiguous = lies_contiguously(itemsize, shape, strides);
    key_.push_back(key_of(KeyKind::kArray,
                          static_cast<uint64_t>(type) | key_of_shape(shape, strides, readonly, contiguous)));
    add_memory(itemsize, data, shape, strides, contiguous, parameter);
}

bool CallArguments::add_structures(PyObject* object, size_t parameter) {
    const std::optional<Structures> given = structures_of(object);
    if (!given) return false;
    kept_.push_back(nb::borrow(object));
    const bool contiguous = lies_contiguously(given->layout->size, given->shape, given->strides);
    key_.push_back(key_of(KeyKind::kStructures,
                          (given->is_single ? kSingle : 0) |
                              key_of_shape(given->shape, given->strides, !given->writeable, contiguous)));
    key_.push_back(reinterpret_cast<uint64_t>(given->layout));
    char* data = given->data;
    if (gpu_ != nullptr) {
        data = gpu_->take_structures(object, parameter);
    } else if (const std::optional<DeviceStructures> records = device_structures_of(object)) {
        take_to_host(records->bytes, parameter, given->writeable && !only_read_);
        data = views_.back().data() + records->place;
    }
    add_memory(given->layout->size, data, given->shape, given->strides, contiguous, parameter);
    return true;
}

uint64_t CallArguments::key_of_shape(std::span<const int64_t> shape, std::span<const int64_t> strides,
                                     bool readonly, bool contiguous) const {
    return (readonly || only_read_ ? kReadonly : 0) | (contiguous ? kContiguous : 0) |
           (lies_in_order_of_c(shape, strides) ? kOrdered : 0) |
           static_cast<uint64_t>(shape.size()) << kRankShift;
}

void CallArguments::add_memory(int64_t itemsize, char* data, std::span<const int64_t> shape,
                               std::span<const int64_t> strides, bool contiguous, size_t parameter) {
    const size_t rank = shape.size();
    words_.push_back(reinterpret_cast<uint64_t>(data));
    for (int64_t size : shape) words_.push_back(static_cast<uint64_t>(size));
    int64_t low = 0, high = itemsize;
    bool empty = false;
    for (size_t d = 0; d < rank; ++d) {
        if (!contiguous || d + 1 < rank) words_.push_back(static_cast<uint64_t>(strides[d]));
        const int64_t last = (shape[d] - 1) * strides[d];
        (last < 0 ? low : high) += last;
        empty |= shape[d] == 0;
    }
    memory_.push_back({data, parameter, current_, only_read_});
    if (empty) return;
    const auto at = reinterpret_cast<uintptr_t>(data);
    spans_.push_back({at + static_cast<uintptr_t>(low), at + static_cast<uintptr_t>(high), parameter});
}

bool CallArguments::overlaps(const std::vector<bool>& written) const {
    for (size_t i = 0; i < spans_.size(); ++i) {
        for (size_t k = i + 1; k < spans_.size(); ++k) {
            const Span &a = spans_[i], &b = spans_[k];
            if (a.parameter == b.parameter) continue;  // of one tuple: they share a scope
            if ((written[a.parameter] || written[b.parameter]) && a.begin < b.end && b.begin < a.end)
                return true;
        }
    }
    return false;
}

// Numbers and None.
bool CallArguments::add_number(PyObject* object, const std::string& function, const std::string& name) {
    if (PyFloat_CheckExact(object)) {
        const double value = PyFloat_AsDouble(object);
        add_scalar(ScalarType::kFloat64, true, &value);
        return true;
    }
    if (PyBool_Check(object)) {
        const bool value = object == Py_True;
        add_scalar(ScalarType::kBool, true, &value);
        return true;
    }
    if (PyLong_Check(object) &&
        (PyLong_CheckExact(object) || !nb::hasattr(nb::handle(object).type(), "__members__"))) {
        int overflow = 0;
        const int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow != 0)
            throw OverflowError("argument '" + name + "' of " + function +
                                "() is an integer beyond 64 bits: give a float");
        add_scalar(ScalarType::kInt64, true, &value);
        return true;
    }
    if (PyComplex_CheckExact(object)) {
        const std::array<double, 2> value = {PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)};
        add_scalar(ScalarType::kComplex128, true, value.data());
        return true;
    }
    if (object == Py_None) {
        key_.push_back(key_of(KeyKind::kNone, 0));
        return true;
    }
    if (is_scalar(object)) {
        add_scalar(scalar_dtype(object).scalar_type(), false, scalar_bytes(object));
        return true;
    }
    return false;
}

void CallArguments::add(PyObject* object, size_t parameter, const std::string& function,
                        const std::string& name) {
    current_ = object;
    if (gpu_ != nullptr && !is_plain(object)) {
        if (const GpuArrays::Taken* taken = gpu_->take(object, parameter)) {
            const array& value = taken->argument.value();
            add_array(value.dtype().scalar_type(), reinterpret_cast<char*>(taken->argument.address()),
                      {value.shape().data(), value.shape().size()},
                      {value.strides().data(), value.strides().size()}, !taken->writeable || only_read_,
                      parameter);
            return;
        }
    }
    if (is_array(object)) return add_weft_array(array_of(object), parameter);
    if (const std::optional<NumpyFields> fields = numpy_fields(object)) {
        add_array(fields->type, fields->data, fields->shape, fields->strides, !fields->writeable, parameter);
        return;
    }
    if (add_number(object, function, name)) return;
    if (is_plain_list(object) && !only_read_) {
        add_listed(object, parameter, function, name, 0);
        key_.push_back(key_of(KeyKind::kList, 0));
        key_.push_back(reinterpret_cast<uint64_t>(
            type_of_list(object, "argument '" + name + "' of " + function + "()", lists_.arrays())));
        lists_.add(object, parameter, words_.size());
        words_.push_back(0);
        words_.push_back(0);
        return;
    }
    if ((PySet_Check(object) != 0 || PyDict_Check(object) != 0) && !only_read_)
        return add_hashed(object, parameter, function, name);
    if (PyTuple_CheckExact(object)) {
        const Py_ssize_t count = PyTuple_Size(object);
        key_.push_back(key_of(KeyKind::kTuple, static_cast<uint64_t>(count)));
        for (Py_ssize_t i = 0; i < count; ++i) add(PyTuple_GetItem(object, i), parameter, function, name);
        return;
    }
    if (PySlice_Check(object)) {
        key_.push_back(key_of(KeyKind::kSlice, 0));
        for (const char* bound : {"start", "stop", "step"}) {
            nb::object value = nb::handle(object).attr(bound);
            if (!value.is_none()) value = steal_or_throw(PyNumber_Index(value.ptr()));
            add(value.ptr(), parameter, function, name);
        }
        return;
    }
    if (object == Py_Ellipsis) {
        key_.push_back(key_of(KeyKind::kEllipsis, 0));
        return;
    }
    if (PyCallable_Check(object) != 0 &&
        (PyObject_HasAttrString(object, "__code__") != 0 || PyObject_HasAttrString(object, "py_func") != 0)) {
        given_.push_back(functions_.number_of(object));
        key_.push_back(key_of(KeyKind::kFunction, given_.back()));
        return;
    }
    if (const auto date = date_given(object)) {
        key_.push_back(key_of(KeyKind::kRecord, 0));
        key_.push_back(reinterpret_cast<uint64_t>(lang::date_record(date->first)));
        add_scalar(ScalarType::kInt64, false, &date->second);
        return;
    }
    if (add_structures(object, parameter)) return;
    if (add_buffer(object, parameter, function, name)) return;
    if (add_shared(object, parameter, function, name)) return;
    if (add_generator(object)) return;
    if (add_record(object, parameter, function, name)) return;
    if (add_type(object)) return;
    const nb::object plain = nb::getattr(nb::handle(object), "value", nb::object());
    if (plain.is_valid() && nb::hasattr(nb::handle(object).type(), "__members__")) {  // flags
        kept_.push_back(plain);
        return add(plain.ptr(), parameter, function, name);
    }
    if (PyUnicode_CheckExact(object)) {  // a text is part of the type, so that it is known
        static auto* const texts = new std::set<std::string>;
        const std::string text = text_of(nb::handle(object));
        if (gpu_ == nullptr && !functions_.knows(text)) return add_text(object);
        key_.push_back(key_of(KeyKind::kText, 0));
        key_.push_back(reinterpret_cast<uint64_t>(&*texts->insert(text).first));
        return;
    }
    throw TypeError("argument '" + name + "' of " + function + "() is a " + type_name(object) +
                    ", which compiled functions do not take: give numbers, arrays, lists or tuples of such");
}

// A set or a dictionary as the lists that it is made of (lang/containers/).
void CallArguments::add_hashed(PyObject* object, size_t parameter, const std::string& function,
                               const std::string& name) {
    const std::string what = "argument '" + name + "' of " + function + "()";
    for (const GivenHashed& other : hashed_) {
        if (other.object == object)
            throw TypeError(what + " is a " + type_name(object) + " that is given twice: give a copy");
    }
    const bool is_dict = PyDict_Check(object) != 0;
    GivenHashed given{object, steal_or_throw(PySequence_List(object)), nb::object(), parameter};
    if (is_dict) given.values = steal_or_throw(PyDict_Values(object));
    const nb::object table = table_of(given.items.ptr());
    key_.push_back(key_of(KeyKind::kRecord, 0));
    key_.push_back(reinterpret_cast<uint64_t>(is_dict ? lang::dict_record() : lang::set_record()));
    for (const nb::object& list : {given.items, table, given.values}) {
        if (!list.is_valid()) continue;
        kept_.push_back(list);
        add(list.ptr(), parameter, function, name);
    }
    hashed_.push_back(std::move(given));
}

// One that is not part of the type: its code points.
void CallArguments::add_text(PyObject* text) {
    kept_.push_back(steal_or_throw(PyUnicode_AsEncodedString(text, "utf-32-le", "surrogatepass")));
    PyObject* const points = kept_.back().ptr();
    key_.push_back(key_of(KeyKind::kText, 1));
    words_.push_back(reinterpret_cast<uint64_t>(PyBytes_AsString(points)));
    words_.push_back(0);  // nobody's but the program's
    words_.push_back(static_cast<uint64_t>(PyBytes_Size(points)) / 4);
}

void CallArguments::add_weft_array(array value, size_t parameter) {
    const bool writeable = value.writeable() && !only_read_;
    value = take_to_host(std::move(value), parameter, writeable);
    add_array(value.dtype().scalar_type(), views_.back().data(), {value.shape().data(), value.shape().size()},
              {value.strides().data(), value.strides().size()}, !writeable, parameter);
}

array CallArguments::take_to_host(array value, size_t parameter, bool writeable) {
    if (!value.storage()->device.is_cpu()) [[unlikely]] {
        value = host_copies_.add(value, current_, parameter);
        kept_.push_back(wrap(value));
        current_ = kept_.back().ptr();
        host_copies_.set_object(kept_.back());
    }
    {
        const ReleaseGil release(!evaluated(value));
        views_.emplace_back(value, writeable);
    }
    return value;
}

// An array of another library's, by DLPack.
bool CallArguments::add_shared(PyObject* object, size_t parameter, const std::string& function,
                               const std::string& name) {
    if (PyType_Check(object) || PyObject_HasAttrString(object, "__dlpack__") == 0 ||
        PyObject_HasAttrString(object, "__dlpack_device__") == 0)
        return false;
    kept_.push_back(nb::module_::import_(modules::kSharing).attr("from_dlpack")(nb::handle(object)));
    add(kept_.back().ptr(), parameter, function, name);
    return true;
}

bool CallArguments::gives_numpy() const {
    return prefers_numpy_ && std::none_of(memory_.begin(), memory_.end(),
                                          [](const Memory& memory) { return is_array(memory.object); });
}

void CallArguments::add_constant(lang::TypeRef type) {
    key_.push_back(key_of(KeyKind::kConstant, 0));
    key_.push_back(reinterpret_cast<uint64_t>(type));
}

// The arrays in a list, in any depth.
void CallArguments::add_listed(PyObject* items, size_t parameter, const std::string& function,
                               const std::string& name, int depth) {
    const bool is_list = is_plain_list(items);
    const Py_ssize_t count = is_list ? PyList_Size(items) : PyTuple_Size(items);
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* const item = is_list ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
        if (PyFloat_CheckExact(item) || PyLong_CheckExact(item)) continue;
        if (is_plain_list(item) || PyTuple_CheckExact(item)) {
            if (depth < kDeepestList) add_listed(item, parameter, function, name, depth + 1);
            continue;
        }
        if ((!is_array(item) && !numpy_fields(item)) || lists_.arrays().contains(item)) continue;
        CallArguments& array =
            *listed_.emplace_back(std::make_unique<CallArguments>(functions_, host_copies_));
        array.add(item, parameter, function, name);
        lists_.arrays()[item] = {types_of(array.key_, 1, true, functions_)[0],
                                 {array.words_.begin(), array.words_.end()}};
        for (const Memory& memory : array.memory_) memory_.push_back(memory);
        for (const Span& span : array.spans_) spans_.push_back(span);
    }
}

void CallArguments::finish() {
    if (lists_.is_shared()) key_.push_back(key_of(KeyKind::kShared, 0));
}

// A dtype, or the type of a number: what stands for it is known when the function is compiled.
bool CallArguments::add_type(PyObject* object) {
    static const auto* const plain = [] {
        auto* symbols = new std::map<PyObject*, lang::Symbol>;
        const std::pair<PyTypeObject*, const char*> types[] = {{&PyFloat_Type, "float"},
                                                               {&PyLong_Type, "int"},
                                                               {&PyBool_Type, "bool"},
                                                               {&PyComplex_Type, "complex"}};
        for (const auto& [type, name] : types) {
            lang::Symbol& symbol = (*symbols)[reinterpret_cast<PyObject*>(type)];
            symbol.kind = lang::SymbolKind::kKnown;
            symbol.name = name;
            symbol.path = "builtins." + symbol.name;
        }
        return symbols;
    }();
    const auto found = plain->find(object);
    if (found != plain->end()) {
        add_constant(lang::symbol_type(&found->second));
        return true;
    }
    const auto is_numpys = [object] {
        return text_of(nb::handle(object).type().attr("__module__")) == "numpy.dtypes";
    };
    if (!PyType_Check(object) && !is_dtype(object) && !is_numpys()) return false;
    try {
        add_constant(lang::symbol_type(lang::symbol_of_dtype(to_dtype_required(object).scalar_type())));
        return true;
    } catch (const TypeError&) {
        return false;
    }
}

// One of NumPy's or weft's: it has a bit generator, whose capsule is the stream.
bool CallArguments::add_generator(PyObject* object) {
    if (PyObject_HasAttrString(object, "bit_generator") == 0) return false;
    const nb::object stream = nb::handle(object).attr("bit_generator");
    if (!nb::hasattr(stream, "capsule")) return false;
    const nb::object capsule = stream.attr("capsule");
    const auto address = reinterpret_cast<int64_t>(PyCapsule_GetPointer(capsule.ptr(), "BitGenerator"));
    if (address == 0) throw_python_error();
    kept_.push_back(capsule);
    generators_.emplace_back(address, nb::borrow(object));
    key_.push_back(key_of(KeyKind::kRecord, 0));
    key_.push_back(reinterpret_cast<uint64_t>(lang::generator_record()));
    add_scalar(ScalarType::kInt64, false, &address);
    return true;
}

bool CallArguments::add_record(PyObject* object, size_t parameter, const std::string& function,
                               const std::string& name) {
    const lang::Record* const record = record_of(nb::handle(object).type());
    if (record == nullptr) return false;
    key_.push_back(key_of(KeyKind::kRecord, 0));
    key_.push_back(reinterpret_cast<uint64_t>(record));
    const nb::object fields = fields_of(*record, object);
    kept_.push_back(fields);
    const Py_ssize_t count = PyTuple_Size(fields.ptr());
    for (Py_ssize_t i = 0; i < count; ++i) add(PyTuple_GetItem(fields.ptr(), i), parameter, function, name);
    return true;
}

void CallArguments::add_global(PyObject* object, size_t parameter, const std::string& function) {
    only_read_ = true;
    add(object, parameter, function, "a global");
    only_read_ = false;
}

bool CallArguments::add_buffer(PyObject* object, size_t parameter, const std::string& function,
                               const std::string& name) {
    if (PyObject_CheckBuffer(object) == 0) return false;
    Py_buffer buffer;
    bool readonly = false;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_RECORDS) != 0) {
        PyErr_Clear();
        if (PyObject_GetBuffer(object, &buffer, PyBUF_RECORDS_RO) != 0) {
            // Arrays of a GPU have the protocol as those of the CPU do, and fail. No attribute is looked at
            // while an error is on its way.
            PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
            PyErr_Fetch(&type, &value, &trace);
            if (PyObject_HasAttrString(object, "__dlpack__") == 0) {
                PyErr_Restore(type, value, trace);
                throw_python_error();
            }
            for (PyObject* part : {type, value, trace}) Py_XDECREF(part);
            const nb::object dtype = nb::getattr(nb::handle(object), "dtype", nb::none());
            const nb::object kind = nb::getattr(dtype, "kind", nb::str(""));
            if (const std::string letter = text_of(kind); letter == "M" || letter == "m")
                throw TypeError("argument '" + name + "' of " + function + "() is an array of " +
                                text_of(nb::str(dtype)) +
                                ", which compiled functions take in the machine's order of bytes alone");
            return false;
        }
        readonly = true;
    }
    buffers_.push_back(buffer);
    const std::optional<DType> dtype = native_format(buffer.format, buffer.itemsize);
    if (!dtype)
        throw TypeError("argument '" + name + "' of " + function + "() has elements of format '" +
                        (buffer.format == nullptr ? "" : buffer.format) +
                        "', which compiled functions do not take: give bools or numbers");
    if (buffer.ndim == 0 && is_numpy_scalar(object)) {
        add_scalar(dtype->scalar_type(), false, buffer.buf);
        return true;
    }
    const auto rank = static_cast<size_t>(buffer.ndim);
    if (rank > 0 && (buffer.shape == nullptr || buffer.strides == nullptr))
        return false;  // a date of NumPy's
    add_array(dtype->scalar_type(), static_cast<char*>(buffer.buf), {buffer.shape, rank},
              {buffer.strides, rank}, readonly, parameter);
    if (PyBytes_CheckExact(object)) key_.data()[key_.size() - 1] |= kBytes;
    return true;
}

}  // namespace weft::python
