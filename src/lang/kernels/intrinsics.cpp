// What one thread computes by itself: bits of integers, and functions of floats that CUDA names.
#include "lang/kernels/kernels.h"

namespace weft::lang {

using ir::ValueId;

std::optional<Value> FunctionLowering::Kernels::compute(const Arguments& arguments) {
    const std::vector<Value>& given = arguments.positional;
    const auto expect = [&](size_t count) {
        f_.expect_arguments("cuda." + std::string(path_), arguments, count, count);
    };
    if (path_ == "nanosleep") {
        expect(1);
        return f_.none();
    }
    if (path_ == "selp") {
        expect(3);
        return f_.select(f_.truth(given[0], where_), given[1], given[2], where_);
    }
    if (path_ == "fma" || path_ == "cbrt") {
        expect(path_ == "fma" ? 3 : 1);
        return f_.by_loop(*find_op(path_), given, where_);
    }
    if (path_ == "rsqrt") {
        expect(1);
        const Value root = f_.by_loop(*find_op("sqrt"), given, where_);
        return f_.arithmetic(OpId::kDivide, f_.constant(Constant::of(ScalarType::kFloat64, 1.0)), root,
                             where_);
    }
    if (path_ != "popc" && path_ != "clz" && path_ != "ffs" && path_ != "brev") return std::nullopt;
    expect(1);
    const Value number = f_.required(given[0], where_);
    if (!is_scalar(number.type) || !is_integer(number.type) || is_bool(number.type))
        refuse("() takes integers, not " + lang::describe(number.type));
    const int64_t bits = 8 * DType(number.type->scalar).itemsize();
    const ScalarType unsigned_of = bits == 64   ? ScalarType::kUInt64
                                   : bits == 32 ? ScalarType::kUInt32
                                   : bits == 16 ? ScalarType::kUInt16
                                                : ScalarType::kUInt8;
    const Value narrow = f_.scalar(scalar_type(unsigned_of), f_.cast(number, unsigned_of));
    if (path_ == "popc") {
        const Value count = f_.by_loop(*find_op("bitwise_count"), std::span(&narrow, 1), where_);
        return integer_of(f_.cast(count, ScalarType::kInt64));
    }
    const Value wide = f_.scalar(scalar_type(ScalarType::kUInt64), f_.cast(narrow, ScalarType::kUInt64));
    if (path_ == "ffs") return f_.call_prelude("cuda.first_set", {{wide}, {}, where_});
    const bool counts = path_ == "clz";
    const Value result = f_.call_prelude(counts ? "cuda.leading_zeros" : "cuda.reversed_bits",
                                         {{wide, f_.integer(bits)}, {}, where_});
    if (counts) return result;
    const TypeRef type = without_literals(number.type);
    return f_.scalar(type, f_.cast(result, type->scalar));
}

}  // namespace weft::lang
