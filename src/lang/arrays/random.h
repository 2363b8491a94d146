// Random numbers in functions: methods of a Generator, and the functions of numpy.random and of Python's
// random, which draw from streams of the thread's own. The engine draws them (library/called/random.cpp,
// python_random.cpp).
#pragma once

#include "lang/lowering.h"
#include "random/thread_stream.h"

namespace weft::lang {

class FunctionLowering::Draws {
public:
    // By a method of `generator`, a value of generator_record(); by a function of a module.
    Draws(FunctionLowering& lowering, const Value& generator, std::string name, const Arguments& given);
    Draws(FunctionLowering& lowering, ThreadStreamOf module, std::string name, const Arguments& given);
    // Fails where there is no such method or function.
    Value call();

private:
    // Parameters as "loc=0 scale=1 size?": what is left out is its default, or None.
    std::vector<Value> bind(const std::string& parameters);
    std::vector<std::optional<Value>> found(const std::vector<std::string>& names);
    // What is given for a parameter, as a float or an integer.
    Value real(const Value& given, std::string_view name);
    Value whole(const Value& given, std::string_view name);
    Value index(const Value& given, std::string_view name);  // an integer alone
    [[noreturn]] void refuse(const Value& given, std::string_view name, const std::string& wanted,
                             const std::string& instead = {});
    int64_t literal(const Value& given, std::string_view name, int64_t otherwise);
    ir::ValueId number(int64_t value) { return f_.integer(value).parts[0]; }
    std::vector<ir::ValueId> shape_of(const Value& size);
    void engine(const std::string& function, const Value* out, std::vector<ir::ValueId> arguments);
    Value engine_number(const std::string& function, ScalarType type, std::vector<ir::ValueId> arguments);
    Value made(ScalarType type, std::span<const ir::ValueId> shape);
    Value order_of(ir::ValueId count);
    Value scalar_truth(const Value& given, std::string_view name);
    ScalarType type_of(const Value& dtype, ScalarType otherwise);
    Value vector(const Value& given, std::string_view name);  // of float64
    // With the axis that `given` says in front.
    Value with_first(const Value& array, const Value& axis);

    Value draw(const std::string& distribution, std::vector<Value> parameters, const Value& size);
    Value draw_float(int kind, const Value& shape, const Value& size);
    std::optional<Value> call_distribution();
    Value call_standard(const std::string& distribution, int kind);
    Value call_integers(const Value& low, const Value& high, const Value& size, const Value& dtype,
                        const Value& endpoint);
    Value call_vectors();
    Value call_permutation(const Value& x, const Value& axis);
    Value call_shuffle(const Value& x, const Value& axis);
    Value call_choice();
    Value chosen_parts(const Value& from, const Value& chosen, int64_t axis);

    // python_random.cpp
    Value call_of_python();
    std::optional<Value> call_python_distribution();
    Value call_range();
    Value call_bits();
    Value call_seed();
    Value call_sample();
    Value call_choices();

    FunctionLowering& f_;
    ir::ValueId stream_{};
    bool legacy_ = false;     // as RandomState draws
    bool of_python_ = false;  // as Python's random draws
    std::string name_;
    const Arguments& given_;
    NodeId where_;
};

}  // namespace weft::lang
