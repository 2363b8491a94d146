#include "api/raw_kernels/packed_arguments.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/scalar_traits.h"
#include "graph/placement.h"
#include "weft/errors.h"

namespace weft {

namespace {

using Kind = KernelParameter::Kind;
using Value = KernelArgument::Value;

std::string with_article(std::string_view name) {
    constexpr std::string_view kVowels = "aeio";  // "a uint8"
    return (kVowels.find(name[0]) != std::string_view::npos ? "an " : "a ") + std::string(name);
}

std::string description_of(const Value& value) {
    struct Describe {
        std::string operator()(const array& a) const {
            return "an array of " + std::string(a.dtype().name());
        }
        std::string operator()(bool b) const { return b ? "True" : "False"; }
        std::string operator()(int64_t i) const { return "the integer " + std::to_string(i); }
        std::string operator()(uint64_t i) const { return "the integer " + std::to_string(i); }
        std::string operator()(double) const { return "a float"; }
        std::string operator()(const std::complex<double>&) const { return "a complex number"; }
        std::string operator()(KernelArgument::Address) const { return "an address"; }
        std::string operator()(const KernelArgument::Bytes& b) const {
            return b.what + " of " + std::to_string(b.bytes.size()) + " bytes";
        }
    };
    return std::visit(Describe{}, value);
}

// A kind by its size, where nothing else is known: what Python's numbers are.
KernelParameter guess(const KernelParameter& parameter, const Value& value) {
    KernelParameter guessed = parameter;
    const auto take = [&](Kind kind, ScalarType type) {
        guessed.kind = kind;
        guessed.dtype = DType(type);
    };
    const bool is_float = std::holds_alternative<double>(value);
    const bool is_complex = std::holds_alternative<std::complex<double>>(value);
    if (is_complex) {
        if (parameter.bytes == 8)
            take(Kind::kBytes, ScalarType::kComplex64);
        else if (parameter.bytes == 16 || parameter.bytes == 0)
            take(Kind::kBytes, ScalarType::kComplex128);
    } else if (is_float) {
        if (parameter.bytes == 2)
            take(Kind::kFloating, ScalarType::kFloat16);
        else if (parameter.bytes == 4)
            take(Kind::kFloating, ScalarType::kFloat32);
        else if (parameter.bytes == 8 || parameter.bytes == 0)
            take(Kind::kFloating, ScalarType::kFloat64);
    } else if (parameter.bytes <= 8) {
        guessed.kind = Kind::kInteger;
        if (parameter.bytes == 0) {
            guessed.bytes = std::holds_alternative<bool>(value) ? 1 : 8;
            if (guessed.bytes == 8) guessed.dtype = DType(ScalarType::kInt64);
        }
    }
    return guessed;
}

}  // namespace

std::string PackedArguments::place(size_t number, const KernelParameter& parameter) const {
    return "argument " + std::to_string(number + 1) + " of " + kernel_ + "()" +
           (parameter.text.empty() ? "" : ", `" + parameter.text + "`");
}

void PackedArguments::refuse(size_t number, const KernelParameter& parameter,
                             const std::string& given) const {
    std::string wanted = "what it takes";
    switch (parameter.kind) {
        case Kind::kPointer:
            wanted = parameter.dtype.has_value() ? "an array of " + std::string(parameter.dtype->name())
                                                 : "an array";
            break;
        case Kind::kInteger:
            wanted = parameter.dtype.has_value()
                         ? with_article(parameter.dtype->name())
                         : "an integer of " + std::to_string(parameter.bytes) + " bytes";
            break;
        case Kind::kFloating:
            wanted = (parameter.dtype.has_value() ? with_article(parameter.dtype->name()) : "a number") +
                     " or one of Python's numbers";
            break;
        case Kind::kBytes:
            wanted = parameter.dtype.has_value()
                         ? with_article(parameter.dtype->name())
                         : "a structure of " + std::to_string(parameter.bytes) + " bytes";
            break;
        case Kind::kUnknown:
            if (parameter.bytes != 0) wanted = "what has " + std::to_string(parameter.bytes) + " bytes";
            break;
    }
    throw TypeError(place(number, parameter) + ": " + given + ", and the kernel takes " + wanted);
}

DeviceBackend* PackedArguments::device_of(const std::string& kernel,
                                          std::span<const KernelArgument> arguments) {
    DeviceBackend* device = nullptr;
    size_t number = 0;
    for (const KernelArgument& argument : arguments) {
        ++number;
        const auto* value = std::get_if<array>(&argument.value());
        if (value == nullptr || !value->valid()) continue;
        DeviceBackend& place = weft::device_of(*value);
        if (place.is_cpu())
            throw ValueError(
                "argument " + std::to_string(number) + " of " + kernel +
                "() is on the CPU, and CUDA C++ runs on GPUs: move it by x.to_device('cuda'), or make it "
                "within weft.device('cuda')");
        if (device != nullptr && device != &place)
            throw ValueError("arrays of one kernel are on " + device->name() + " and on " + place.name() +
                             ": move one with x.to_device(...)");
        device = &place;
    }
    return device;
}

PackedArguments::PackedArguments(const std::string& kernel, const std::vector<KernelParameter>* parameters,
                                 std::span<const KernelArgument> arguments)
    : kernel_(kernel),
      slots_(arguments.size(), &memory_),
      pointers_(arguments.size(), &memory_),
      arrays_(&memory_),
      taken_(&memory_) {
    arrays_.reserve(arguments.size());
    if (parameters != nullptr && parameters->size() != arguments.size()) {
        std::string list;
        for (const KernelParameter& each : *parameters)
            list += (list.empty() ? "" : ", ") +
                    (each.text.empty() ? std::to_string(each.bytes) + " bytes" : each.text);
        throw TypeError(kernel + "() takes " + std::to_string(parameters->size()) + " arguments, and " +
                        std::to_string(arguments.size()) + " were given: " + kernel + "(" + list + ")");
    }
    static const KernelParameter kNothingKnown{};
    for (size_t number = 0; number < arguments.size(); ++number) {
        pointers_[number] = slots_[number].bytes.data();
        const KernelParameter& parameter = parameters != nullptr ? (*parameters)[number] : kNothingKnown;
        const Value& value = arguments[number].value();
        if (const auto* each = std::get_if<array>(&value))
            add_array(number, parameter, *each);
        else if (const auto* bytes = std::get_if<KernelArgument::Bytes>(&value))
            add_bytes(number, parameter, *bytes);
        else if (const auto* address = std::get_if<KernelArgument::Address>(&value)) {
            if (parameter.kind != Kind::kPointer &&
                (parameter.kind != Kind::kUnknown || parameter.bytes % 8 != 0))
                refuse(number, parameter, "an address");
            put(number, &address->address, sizeof address->address);
        } else {
            add_number(number, parameter, value);
        }
    }
}

void PackedArguments::put(size_t number, const void* bytes, size_t count) {
    if (count > kSlotBytes) {
        large_.push_back(std::make_unique<char[]>(count));
        pointers_[number] = large_.back().get();
    }
    std::memcpy(pointers_[number], bytes, count);
}

void PackedArguments::add_array(size_t number, const KernelParameter& parameter, const array& value) {
    const bool may_be =
        parameter.kind == Kind::kPointer || (parameter.kind == Kind::kUnknown && parameter.bytes % 8 == 0);
    if (!may_be) refuse(number, parameter, value.valid() ? description_of(value) : "a null array");
    if (!value.valid()) {
        const uint64_t null = 0;
        put(number, &null, sizeof null);
        return;
    }
    if (parameter.kind == Kind::kPointer && parameter.dtype.has_value() &&
        *parameter.dtype != value.dtype()) {
        // Bytes are read as bytes, whatever their sign; so are integers of other signs.
        const DType wanted = *parameter.dtype, given = value.dtype();
        const bool alike = wanted.itemsize() == given.itemsize() &&
                           (wanted.is_integer() || wanted.is_bool()) &&
                           (given.is_integer() || given.is_bool());
        if (!alike) refuse(number, parameter, description_of(value));
    }
    const bool is_written = !parameter.is_const;
    if (is_written && parameter.kind == Kind::kPointer && !parameter.text.empty() && !value.writeable())
        throw ValueError(place(number, parameter) + ": the array is read-only, and the kernel may write it");
    arrays_.push_back({&value, number, is_written});
}

void PackedArguments::add_bytes(size_t number, const KernelParameter& parameter,
                                const KernelArgument::Bytes& value) {
    const bool other_size =
        parameter.bytes != 0 && static_cast<size_t>(parameter.bytes) != value.bytes.size();
    bool other_kind = false;
    if (value.dtype.has_value()) {
        const bool is_floating = value.dtype->is_floating();
        other_kind = (parameter.kind == Kind::kInteger && (is_floating || value.dtype->is_complex())) ||
                     (parameter.kind == Kind::kFloating && !is_floating) || parameter.kind == Kind::kPointer;
        if (value.dtype->is_integer() && value.bytes.size() == 8 && parameter.kind == Kind::kPointer)
            other_kind = false;
    }
    if (other_size || other_kind) refuse(number, parameter, description_of(Value(value)));
    put(number, value.bytes.data(), value.bytes.size());
}

void PackedArguments::add_number(size_t number, const KernelParameter& given_parameter, const Value& value) {
    const KernelParameter parameter =
        given_parameter.kind == Kind::kUnknown ||
                (given_parameter.kind == Kind::kBytes && !given_parameter.dtype.has_value())
            ? guess(given_parameter, value)
            : given_parameter;
    const auto refuse_it = [&] { refuse(number, parameter, description_of(value)); };
    const auto* real = std::get_if<double>(&value);
    const auto* complex = std::get_if<std::complex<double>>(&value);
    // An integer, of which the highest bits tell a sign where it is negative.
    const bool is_integer = real == nullptr && complex == nullptr;
    bool is_negative = false;
    uint64_t bits = 0;
    double as_real = 0;
    if (const auto* flag = std::get_if<bool>(&value)) {
        bits = *flag ? 1 : 0;
        as_real = *flag ? 1 : 0;
    } else if (const auto* small = std::get_if<int64_t>(&value)) {
        bits = static_cast<uint64_t>(*small);
        is_negative = *small < 0;
        as_real = static_cast<double>(*small);
    } else if (const auto* large = std::get_if<uint64_t>(&value)) {
        bits = *large;
        as_real = static_cast<double>(*large);
    } else if (real != nullptr) {
        as_real = *real;
    }
    switch (parameter.kind) {
        case Kind::kPointer:
            if (!is_integer || std::holds_alternative<bool>(value)) refuse_it();
            put(number, &bits, sizeof bits);
            return;
        case Kind::kInteger: {
            if (!is_integer) refuse_it();
            if (parameter.dtype.has_value() && parameter.dtype->is_bool()) bits = bits != 0 ? 1 : 0;
            const int64_t size = parameter.bytes;
            const bool is_signed = parameter.dtype.has_value() && parameter.dtype->is_signed_integer();
            const bool is_unsigned = parameter.dtype.has_value() && parameter.dtype->is_unsigned_integer();
            bool fits = !(is_negative && is_unsigned);
            if (is_negative) {
                const auto least =
                    size >= 8 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (8 * size - 1));
                fits = fits && static_cast<int64_t>(bits) >= least;
            } else {
                const int width = static_cast<int>(8 * size) - (is_signed ? 1 : 0);
                fits = fits && (width >= 64 || bits >> width == 0);
            }
            if (!fits)
                throw OverflowError(place(number, parameter) + ": " + description_of(value) +
                                    " does not fit " +
                                    (parameter.dtype.has_value() ? std::string(parameter.dtype->name())
                                                                 : std::to_string(size) + " bytes"));
            put(number, &bits, static_cast<size_t>(size));  // the machine is little-endian
            return;
        }
        case Kind::kFloating: {
            if (complex != nullptr) refuse_it();
            const ScalarType type = parameter.dtype.has_value() ? parameter.dtype->scalar_type()
                                    : parameter.bytes == 4      ? ScalarType::kFloat32
                                                                : ScalarType::kFloat64;
            if (type == ScalarType::kFloat64) {
                put(number, &as_real, sizeof as_real);
            } else if (type == ScalarType::kFloat32) {
                const auto single = static_cast<float>(as_real);
                put(number, &single, sizeof single);
            } else if (type == ScalarType::kFloat16) {
                const auto half = static_cast<Half>(as_real);
                put(number, &half, sizeof half);
            } else {
                const BFloat16 half(as_real);
                put(number, &half, sizeof half);
            }
            return;
        }
        case Kind::kBytes: {
            if (!parameter.dtype.has_value() || !parameter.dtype->is_complex()) refuse_it();
            const std::complex<double> whole = complex != nullptr ? *complex : std::complex<double>(as_real);
            if (parameter.dtype->scalar_type() == ScalarType::kComplex128) {
                put(number, &whole, sizeof whole);
            } else {
                const std::complex<float> single(whole);
                put(number, &single, sizeof single);
            }
            return;
        }
        case Kind::kUnknown: break;
    }
    refuse_it();
}

void PackedArguments::take_arrays() {
    taken_.reserve(arrays_.size());
    for (const Array& each : arrays_) {
        taken_.emplace_back(*each.value);
        const uint64_t address = taken_.back().address();
        put(each.argument, &address, sizeof address);
    }
}

std::pmr::vector<const Buffer*> PackedArguments::read() {
    std::pmr::vector<const Buffer*> buffers(&memory_);
    buffers.reserve(taken_.size());
    for (const LaunchArgument& each : taken_) buffers.push_back(each.buffer().get());
    return buffers;
}

std::pmr::vector<Buffer*> PackedArguments::written() {
    std::pmr::vector<Buffer*> buffers(&memory_);
    buffers.reserve(taken_.size());
    for (size_t k = 0; k < taken_.size(); ++k) {
        if (arrays_[k].is_written) buffers.push_back(taken_[k].buffer().get());
    }
    return buffers;
}

int64_t PackedArguments::bytes_of_arrays() const {
    int64_t bytes = 0;
    for (const Array& each : arrays_) bytes += each.value->nbytes();
    return bytes;
}

}  // namespace weft
