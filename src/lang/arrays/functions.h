// NumPy's functions of arrays by their names: products, orders, linear algebra and transforms, which the
// engine computes (ops/engine_function.h), and those that the prelude has in Python.
#pragma once

#include "lang/lowering.h"

namespace weft::lang {

class FunctionLowering::ArrayFunctions {
public:
    ArrayFunctions(FunctionLowering& lowering, std::string name, const Arguments& given)
        : f_(lowering), name_(std::move(name)), given_(given), where_(given.where) {}

    // Nothing where it is none of these. The result is deferred where the arguments say so.
    std::optional<Value> call(const std::string& module);
    // Refuses arguments that the function does not take, by the names of the parameters
    // (arrays/parameters.cpp).
    void expect_arguments(const std::string& module) const;
    std::optional<Value> call_method(const Value& array);
    // engine.f(...), in the prelude alone.
    Value call_engine();
    Value matmul(const Value& left, const Value& right);
    // The places where an array is true: one array for each dimension, of one length.
    std::vector<Value> places(const Value& array);

private:
    std::optional<Value> find_and_call(const std::string& module);
    // The arguments by the names of the parameters: `a` has to be given, `a?` need not, `a!` is not taken.
    std::vector<Value> bind(std::string_view parameters);
    std::vector<Value> of_polyval();
    Value answer(const std::string& function, std::span<const Value> arguments);
    void expect(const Value& answer, const char* exception, const std::string& text);

    bool is_none(const Value& value) const { return value.type->kind == TypeKind::kNone; }
    // A function of the prelude for arrays, in any of its files for these.
    Value prelude(const std::string& name, std::vector<Value> arguments);
    Value array(const Value& given);
    Value array(const Value& given, ScalarType type);  // of these elements
    std::vector<ir::ValueId> shape_of(const Value& array);
    Value whole(ir::ValueId value) const { return f_.scalar(scalar_type(ScalarType::kInt64, true), value); }
    // The text, known when the function is compiled; or what is none.
    std::string text(const Value& value, const std::string& otherwise);
    bool flag(const Value& value, bool otherwise);
    size_t axis(const Value& value, size_t rank, int64_t otherwise = -1);
    Value operate(OpId op, std::initializer_list<Value> operands);
    // Computed where it is used, in one loop with that (arrays/deferred.cpp).
    Value later(OpId op, std::initializer_list<Value> operands);
    Value reduce(const std::string& name, const Value& array, const Value& axis, bool keeps = false);
    Value element_or_array(const Value& array);
    Value stored(const Value& result, const Value& out,
                 const char* mismatch = "output array has wrong dimensions");
    Value transposed_last(const Value& array);
    // Raises ValueError, with sizes in the places of {}.
    void check_sizes(ir::ValueId holds, const std::string& text, std::vector<ir::ValueId> sizes);

    // (arrays/products.cpp)
    Value product(const Value& left, const Value& right, std::span<const ir::ValueId> batch,
                  std::span<const size_t> left_axes, size_t left_sum, std::span<const size_t> right_axes,
                  size_t right_sum);
    Value dot(const Value& left, const Value& right);
    Value vdot(const Value& left, const Value& right);
    std::optional<Value> call_product();

    // (arrays/contractions.cpp)
    struct Labelled {
        Value array;
        std::string labels;  // a letter for each axis
    };
    Value in_order(const Labelled& of, const std::string& labels);
    Labelled diagonals(const Value& array, const std::string& labels);
    Labelled summed(Labelled of, const std::string& kept);
    Labelled repeated(Labelled of, char label, ir::ValueId wanted);
    Labelled contracted(Labelled left, Labelled right, const std::string& kept);
    Value einsum();
    Value tensordot();
    std::optional<Value> call_contraction();

    // (arrays/padding.cpp)
    std::vector<std::pair<Value, Value>> sides_of(const Value& given, size_t rank);
    std::optional<Value> call_padding();

    // (arrays/ordering.cpp)
    std::optional<Value> call_ordering();
    Value sorted(const Value& array, size_t axis, bool places);
    Value searched();
    Value sorted_by_keys();

    // (arrays/linalg.cpp)
    std::optional<Value> call_linalg();
    Value matrices(const Value& given);
    Value matrices(const Value& given, ScalarType type);
    ScalarType linalg_type(std::initializer_list<Value> arrays);
    void expect_square(const Value& a);
    std::vector<ir::ValueId> batch_of(const Value& a);
    Value over(const Value& a, std::span<const ir::ValueId> batch, size_t core);
    Value made(ScalarType type, std::vector<ir::ValueId> batch, std::initializer_list<ir::ValueId> core);
    Value call_solve();
    Value call_eigen(bool symmetric, bool vectors);
    Value call_svd(bool values_alone);
    Value call_qr();
    Value call_lstsq();
    Value call_norm(bool is_general = false);
    Value norm_of_any(Value x, bool of_matrix);

    // (arrays/fft.cpp)
    std::optional<Value> call_fft();
    Value transformed(const Value& array, const std::string& kind, const Value& n, size_t axis,
                      const std::string& norm);

    // (arrays/scans.cpp)
    std::optional<Value> call_scan();
    std::optional<Value> call_without_nan();
    Value choose_later(const Value& condition, const Value& yes, const Value& no);
    Value part(const Value& array, size_t axis, ir::ValueId from, ir::ValueId count);
    Value last(const Value& array, size_t axis);  // with that axis as the last

    // (arrays/counting.cpp)
    std::optional<Value> call_counting();
    Value call_unique();
    Value call_interp();
    Value call_quantile(bool percents);
    Value call_median(bool skips);

    // (arrays/views.cpp)
    std::optional<Value> call_shown();
    Value from_buffer();
    std::vector<ir::ValueId> sizes_of(const Value& shape);
    Value broadcast(const Value& array, std::span<const ir::ValueId> shape);
    std::vector<size_t> axes_of_windows(const Value& given, size_t count, size_t rank);
    Value limits_of(const Value& dtype);  // (arrays/limits.cpp)
    // (arrays/rounding.cpp)
    std::optional<Value> call_rounding();

    FunctionLowering& f_;
    std::string name_;
    const Arguments& given_;
    NodeId where_;
};

}  // namespace weft::lang
