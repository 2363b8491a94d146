// NumPy's random numbers in functions: methods of a Generator, and the functions of numpy.random, which draw
// from a stream of the thread's own. The engine draws them (library/called/random.cpp).
#pragma once

#include "lang/lowering.h"

namespace weft::lang {

class FunctionLowering::Draws {
public:
    // `generator` is a value of generator_record(); null: the thread's own stream.
    Draws(FunctionLowering& lowering, const Value* generator, std::string name, const Arguments& given);
    // Fails where there is no such method or function.
    Value call();

private:
    // Parameters as "loc=0 scale=1 size?": what is left out is its default, or None.
    std::vector<Value> bind(const std::string& parameters);
    std::vector<std::optional<Value>> found(const std::vector<std::string>& names);
    Value real(const Value& given);
    Value whole(const Value& given);
    ir::ValueId number(int64_t value) { return f_.integer(value).parts[0]; }
    std::vector<ir::ValueId> shape_of(const Value& size);
    void engine(const std::string& function, const Value* out, std::vector<ir::ValueId> arguments);
    Value engine_number(const std::string& function, ScalarType type, std::vector<ir::ValueId> arguments);
    Value made(ScalarType type, std::span<const ir::ValueId> shape);
    Value order_of(ir::ValueId count);
    Value scalar_truth(const Value& given);
    ScalarType type_of(const Value& dtype, ScalarType otherwise);

    Value draw(const std::string& distribution, std::vector<Value> parameters, const Value& size);
    Value draw_float(int kind, const Value& shape, const Value& size);
    std::optional<Value> call_distribution();
    Value call_standard(const std::string& distribution, int kind);
    Value call_integers(const Value& low, const Value& high, const Value& size, const Value& dtype,
                        const Value& endpoint);
    Value call_permutation(const Value& x);
    Value call_shuffle(const Value& x);
    Value call_choice();

    FunctionLowering& f_;
    ir::ValueId stream_{};
    bool legacy_;
    std::string name_;
    const Arguments& given_;
    NodeId where_;
};

}  // namespace weft::lang
