// The functions of Python's own module random, which draw from a stream of the thread's own.
#include <map>

#include "lang/arrays/random.h"
#include "random/distributions/table.h"

namespace weft::lang {

using ir::ValueId;

std::optional<Value> FunctionLowering::Draws::call_python_distribution() {
    static const auto* const parameters = new std::map<std::string, std::string, std::less<>>{
        {"uniform", "a b"},
        {"triangular", "low=0 high=1 mode?"},
        {"normalvariate", "mu=0 sigma=1"},
        {"gauss", "mu=0 sigma=1"},
        {"lognormvariate", "mu sigma"},
        {"expovariate", "lambd=1"},
        {"vonmisesvariate", "mu kappa"},
        {"gammavariate", "alpha beta"},
        {"betavariate", "alpha beta"},
        {"paretovariate", "alpha"},
        {"weibullvariate", "alpha beta"},
    };
    const auto known = parameters->find(name_);
    if (known == parameters->end()) return std::nullopt;
    std::vector<Value> values = bind(known->second);
    if (name_ == "triangular" && values[2].type->kind == TypeKind::kNone) {
        values.pop_back();
        return draw("python_symmetric", values, f_.none());
    }
    return draw("python_" + name_, values, f_.none());
}

// Of randrange and randint.
Value FunctionLowering::Draws::call_range() {
    enum : int64_t { kAsGiven = 0, kFromZero = 1, kWithStop = 2 };
    Value start = f_.integer(0), stop = start, step = f_.integer(1);
    int64_t kind = kAsGiven;
    if (name_ == "randint") {
        const std::vector<Value> values = bind("a b");
        start = index(values[0], "a");
        stop = index(values[1], "b");
        kind = kWithStop;
    } else {
        const std::vector<Value> values = bind("start stop? step?");
        const bool has_step = values[2].type->kind != TypeKind::kNone;
        if (values[1].type->kind == TypeKind::kNone) {
            if (has_step) f_.fail(where_, "Missing a non-None stop argument");
            stop = index(values[0], "start");
            kind = kFromZero;
        } else {
            start = index(values[0], "start");
            stop = index(values[1], "stop");
            if (has_step) step = index(values[2], "step");
        }
    }
    return engine_number("python_range", ScalarType::kInt64,
                         {start.parts[0], stop.parts[0], step.parts[0], number(kind)});
}

// An int has 64 bits in compiled functions, so all of 64 random ones are a uint64.
Value FunctionLowering::Draws::call_bits() {
    constexpr int64_t kAll = 64;
    const Value count = bind("k")[0];
    const Value wanted = index(count, "k");
    const bool is_all = literal_integer(count.type) == kAll;
    if (!is_all) {
        f_.check(f_.apply(OpId::kLess, {wanted.parts[0], number(kAll)}),
                 f_.site("OverflowError",
                         "getrandbits() gives 63 bits at most, or 64 where the number of bits is a constant"),
                 {}, where_);
    }
    return engine_number("python_bits", is_all ? ScalarType::kUInt64 : ScalarType::kInt64, {wanted.parts[0]});
}

Value FunctionLowering::Draws::call_seed() {
    enum : int64_t { kSigned = 0, kUnsigned = 1, kOfTheSystem = 2 };
    const Value given = bind("a?")[0];
    ValueId seed = number(0);
    int64_t kind = kOfTheSystem;
    if (given.type->kind != TypeKind::kNone) {
        if (!is_scalar(given.type) || is_float(given.type) || is_complex(given.type))
            refuse(given, "a", "an integer or None");
        kind = given.type->scalar == ScalarType::kUInt64 ? kUnsigned : kSigned;
        seed = f_.cast(given, ScalarType::kInt64);
    }
    engine("python_seed", nullptr, {seed, number(kind)});
    return f_.none();
}

Value FunctionLowering::Draws::call_sample() {
    const std::vector<Value> values = bind("population k");
    if (is_array(values[0].type) || is_scalar(values[0].type))
        refuse(values[0], "population", "a list, a range or a tuple");
    return f_.call_prelude("random.sample", {{values[0], index(values[1], "k")}, {}, where_});
}

Value FunctionLowering::Draws::call_choices() {
    const std::vector<Value> values = bind("population weights? cum_weights? k?");
    const bool has_weights = values[1].type->kind != TypeKind::kNone;
    const bool has_sums = values[2].type->kind != TypeKind::kNone;
    if (has_weights && has_sums) f_.fail(where_, "Cannot specify both weights and cumulative weights");
    const Value count = values[3].type->kind == TypeKind::kNone ? f_.integer(1) : index(values[3], "k");
    if (!has_weights && !has_sums) return f_.call_prelude("random.choices", {{values[0], count}, {}, where_});
    if (has_weights && is_scalar(values[1].type))
        f_.fail(where_, "The number of choices must be a keyword argument");
    const Value weights = has_weights ? vector(values[1], "weights") : vector(values[2], "cum_weights");
    return f_.call_prelude(has_weights ? "random.weighted_choices" : "random.choices_by_sums",
                           {{values[0], weights, count}, {}, where_});
}

Value FunctionLowering::Draws::call_of_python() {
    if (name_ == "random") {
        bind("");
        return draw("random", {}, f_.none());
    }
    if (name_ == "randrange" || name_ == "randint") return call_range();
    if (name_ == "getrandbits") return call_bits();
    if (name_ == "seed") return call_seed();
    if (name_ == "shuffle") return call_shuffle(bind("x")[0], f_.none());
    if (name_ == "choice") return f_.call_prelude("random.choice", {{bind("seq")[0]}, {}, where_});
    if (name_ == "sample") return call_sample();
    if (name_ == "choices") return call_choices();
    if (const std::optional<Value> result = call_python_distribution()) return *result;
    f_.fail(where_, "random." + name_ + " is not compiled yet",
            "Call it outside and give its result as an argument.");
}

}  // namespace weft::lang
