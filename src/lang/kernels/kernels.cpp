#include "lang/kernels/kernels.h"

#include <algorithm>

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr size_t kAxes = 3;

struct Register {
    std::string_view name;
    PlacePart part;
};
constexpr Register kRegisters[] = {{"threadIdx.", PlacePart::kThread},
                                   {"blockIdx.", PlacePart::kBlock},
                                   {"blockDim.", PlacePart::kBlockSize},
                                   {"gridDim.", PlacePart::kGridSize}};

}  // namespace

void FunctionLowering::Kernels::refuse(const std::string& what, const std::string& help) const {
    f_.fail(where_, "cuda." + std::string(path_) + what, help);
}

Value FunctionLowering::Kernels::place(PlaceArgument argument) {
    const std::vector<GlobalArgument>& globals = f_.compilation_.globals();
    const auto first = std::find_if(globals.begin(), globals.end(), is_place_argument);
    if (first == globals.end())
        refuse(" is known in kernels and in what they call",
               "Decorate the function with weft.cuda.jit, and launch it as kernel[grid, block](...).");
    return f_.globals_[static_cast<size_t>(first - globals.begin()) + static_cast<size_t>(argument)];
}

ValueId FunctionLowering::Kernels::number(PlacePart part, size_t axis) {
    const Value numbers = place(PlaceArgument::kNumbers);
    return f_.dry_ ? ValueId{} : numbers.parts[static_cast<size_t>(part) * kAxes + axis];
}

// The threads of a block in their order, x fastest.
ValueId FunctionLowering::Kernels::linear_thread() {
    ValueId result = number(PlacePart::kThread, 2);
    for (const size_t axis : {1, 0}) {
        result =
            f_.apply(OpId::kAdd, {f_.apply(OpId::kMultiply, {result, number(PlacePart::kBlockSize, axis)}),
                                  number(PlacePart::kThread, axis)});
    }
    return result;
}

ValueId FunctionLowering::Kernels::lane() {
    return f_.apply(OpId::kBitwiseAnd, {linear_thread(), index(kWarp - 1)});
}

std::optional<Value> FunctionLowering::Kernels::value() {
    for (const Register& each : kRegisters) {
        if (path_.starts_with(each.name))
            return integer_of(number(each.part, static_cast<size_t>(path_.back() - 'x')));
    }
    if (path_ == "laneid") return integer_of(lane());
    if (path_ == "warpsize") return f_.integer(kWarp);
    return std::nullopt;
}

// The place of a thread among all of the grid, or how many these are, by one to three axes.
Value FunctionLowering::Kernels::grid(const Arguments& arguments, bool of_all) {
    f_.expect_arguments("cuda." + std::string(path_), arguments, 1, 1);
    const auto axes = literal_integer(arguments.positional[0].type);
    if (!axes || *axes < 1 || *axes > static_cast<int64_t>(kAxes)) refuse("() takes 1, 2 or 3");
    std::vector<Value> all;
    for (size_t axis = 0; axis < static_cast<size_t>(*axes); ++axis) {
        const ValueId size = number(PlacePart::kBlockSize, axis);
        ValueId at = f_.apply(OpId::kMultiply,
                              {number(of_all ? PlacePart::kGridSize : PlacePart::kBlock, axis), size});
        if (!of_all) at = f_.apply(OpId::kAdd, {at, number(PlacePart::kThread, axis)});
        if (!f_.dry_) f_.note(at, {of_all ? 1 : 0, kMostOfGrid, {}, 0});
        all.push_back(integer_of(at));
    }
    return all.size() == 1 ? all[0] : f_.tuple(std::move(all));
}

Value FunctionLowering::Kernels::call(const Arguments& arguments) {
    if (path_ == "_run_block") return run_block(arguments);
    if (path_ == "_count_blocks") return count_blocks(arguments);
    if (path_ == "lanemask_lt") {
        f_.expect_arguments("cuda.lanemask_lt", arguments, 0, 0);
        return integer_of(
            f_.apply(OpId::kSubtract, {f_.apply(OpId::kLeftShift, {index(1), lane()}), index(1)}));
    }
    if (path_ == "grid" || path_ == "gridsize") return grid(arguments, path_ == "gridsize");
    if (path_ == "shared.array") return make_array(PlaceArgument::kBlockMemory, arguments);
    if (path_ == "local.array") return make_array(PlaceArgument::kOwnMemory, arguments);
    if (path_ == "const.array_like") {
        f_.expect_arguments("cuda.const.array_like", arguments, 1, 1);
        return arguments.positional[0];
    }
    if (path_ == "cg.this_grid") {
        f_.expect_arguments("cuda.cg.this_grid", arguments, 0, 0);
        place(PlaceArgument::kNumbers);
        return f_.together(std::string(kGridGroup), {});
    }
    constexpr std::string_view kAtomic = "atomic.";
    if (path_.starts_with(kAtomic)) return atomic(path_.substr(kAtomic.size()), arguments);
    if (const std::optional<Value> result = meet(arguments)) return *result;
    if (const std::optional<Value> result = compute(arguments)) return *result;
    refuse(" is not compiled yet");
}

}  // namespace weft::lang
