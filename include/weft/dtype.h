// Element types of arrays, as NumPy names them. `DType` is what the public interface passes around: one
// pointer to an interned, immutable description, so that comparing two of them compares pointers and so that
// later kinds (datetimes, opaque host types) carry parameters without changing this interface. `ScalarType`
// is the closed list of types that kernels compute with.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace weft {

enum class ScalarType : uint8_t {
#define WEFT_SCALAR_TYPE(enumerator, ...) enumerator,
#include "weft/scalar_types.def"
#undef WEFT_SCALAR_TYPE
};

constexpr int kScalarTypeCount = 0
#define WEFT_SCALAR_TYPE(...) +1
#include "weft/scalar_types.def"
#undef WEFT_SCALAR_TYPE
    ;

/// How far a conversion may go, as NumPy's casting= argument says it.
enum class Casting : uint8_t { kNo, kEquiv, kSafe, kSameKind, kUnsafe };

/// What a dtype is; lives as long as the process.
struct DTypeInfo {
    ScalarType scalar_type;
    char character;         // NumPy's one-letter code: 'd'
    char kind;              // one of b i u f c: NumPy's kind, but for bfloat16, which is V there
    uint8_t alignment;      // in bytes
    int64_t itemsize;       // in bytes
    std::string_view name;  // "float64"
    std::string_view str;   // "<f8"
};

/// All dtypes, in the order of `ScalarType`.
extern const DTypeInfo kDTypeInfos[kScalarTypeCount];

/// An element type. Copies are free; equal types compare equal as pointers do.
class DType {
public:
    /// float64, NumPy's default.
    DType() : DType(ScalarType::kFloat64) {}
    DType(ScalarType type) : info_(&kDTypeInfos[static_cast<size_t>(type)]) {}

    static DType of(ScalarType type) { return DType(type); }

    /// The dtype a NumPy user means by `text`: a name ("float64", "int", "bool"), a code ("f8", "<f8", "=f8")
    /// or a character ("d"). Throws TypeError, worded as NumPy's, when there is none.
    static DType parse(std::string_view text);

    /// As `parse`, but null where it would throw.
    static const DTypeInfo* find(std::string_view text);

    /// All of them, in the order of `ScalarType`.
    static std::span<const DTypeInfo> all() { return kDTypeInfos; }

    const DTypeInfo& info() const { return *info_; }
    ScalarType scalar_type() const { return info_->scalar_type; }
    int64_t itemsize() const { return info_->itemsize; }
    int64_t alignment() const { return info_->alignment; }
    char kind() const { return info_->kind; }
    char character() const { return info_->character; }
    std::string_view name() const { return info_->name; }
    std::string_view str() const { return info_->str; }

    bool is_bool() const { return kind() == 'b'; }
    bool is_signed_integer() const { return kind() == 'i'; }
    bool is_unsigned_integer() const { return kind() == 'u'; }
    bool is_integer() const { return kind() == 'i' || kind() == 'u'; }  // without bool
    bool is_floating() const { return kind() == 'f'; }
    bool is_complex() const { return kind() == 'c'; }
    bool is_inexact() const { return is_floating() || is_complex(); }
    bool is_half_float() const { return is_floating() && itemsize() == 2; }  // float16 and bfloat16
    [[deprecated("is_half_float")]] bool is_short_float() const { return is_half_float(); }

    /// The type of the real part: itself unless complex.
    DType real() const;

    /// What sums, products and running results are computed in: float32 for 16-bit floats, which are too
    /// short to add up in and are rounded once, at the end; else itself.
    DType accumulator() const { return is_half_float() ? DType(ScalarType::kFloat32) : *this; }

    friend bool operator==(DType a, DType b) { return a.info_ == b.info_; }

private:
    const DTypeInfo* info_;
};

}  // namespace weft

template <>
struct std::hash<weft::DType> {
    size_t operator()(weft::DType dtype) const noexcept { return static_cast<size_t>(dtype.scalar_type()); }
};
