// A block of a launch: its threads one after another, or, where they wait for each other, together.
#include <algorithm>

#include "ir/intrinsic.h"
#include "lang/kernels/kernels.h"
#include "lang/kernels/launch.h"
#include "lang/parallel/outline.h"

namespace weft::lang {

using ir::Intrinsic;
using ir::ValueId;

namespace {

constexpr size_t kAxes = 3;

}  // namespace

void FunctionLowering::Kernels::set_thread(std::span<const ValueId> thread) {
    std::vector<ValueId>& numbers = f_.globals_[first_place()].parts;
    std::copy(thread.begin(), thread.end(), numbers.begin());
}

// Which of the module's global arguments is the first that tells a place.
size_t FunctionLowering::Kernels::first_place() const {
    const std::vector<GlobalArgument>& globals = f_.compilation_.globals();
    return static_cast<size_t>(std::ranges::find_if(globals, is_place_argument) - globals.begin());
}

void FunctionLowering::Kernels::set_memory(PlaceArgument argument, Value memory) {
    f_.globals_[first_place() + static_cast<size_t>(argument)] = std::move(memory);
}

// Of thread `number`: so many bytes of what all threads have.
void FunctionLowering::Kernels::set_own_memory(ValueId number, ValueId bytes) {
    Value& memory = f_.globals_[first_place() + static_cast<size_t>(PlaceArgument::kOwnMemory)];
    memory = f_.view_as(memory, memory.type, f_.apply(OpId::kMultiply, {number, bytes}), std::span(&bytes, 1),
                        std::array{index(1)});
}

void FunctionLowering::Kernels::call_kernel(const FunctionSource& kernel,
                                            const std::vector<Value>& arguments) {
    const size_t temporaries = f_.temporaries_.size();
    f_.call_source(kernel, {}, {arguments, {}, where_});
    f_.end_temporaries(temporaries);
}

void FunctionLowering::Kernels::run_threads(const FunctionSource& kernel, const std::vector<Value>& arguments,
                                            const std::array<ValueId, 3>& size, ValueId) {
    const std::vector<Value> before = f_.globals_;
    const ValueId zero = index(0), one = index(1);
    std::array<ValueId, kAxes> thread{};
    const std::function<void(size_t)> loop = [&](size_t axis) {
        f_.builder_->for_loop(zero, size[axis], one, {},
                              [&](ir::Builder&, std::span<const ValueId> at) -> std::vector<ValueId> {
                                  const Nested nested(f_);
                                  thread[axis] = at[0];
                                  f_.note(at[0], {0, kMostThreadsOfBlock, size[axis], 0});
                                  if (axis > 0) {
                                      loop(axis - 1);
                                  } else {
                                      set_thread(thread);
                                      call_kernel(kernel, arguments);
                                  }
                                  return {};
                              });
    };
    loop(kAxes - 1);
    f_.globals_ = before;
}

void FunctionLowering::Kernels::run_together(const FunctionSource& kernel,
                                             const std::vector<Value>& arguments,
                                             const std::array<ValueId, 3>& size, ValueId own_bytes) {
    Outline outline(f_.compilation_.name_beside(f_.target_.name));
    const ir::Type word = ir::Type::of(ScalarType::kInt64);
    const ValueId number = outline.builder.parameter(word, "thread");
    const ValueId column = outline.builder.parameter(word, "column");
    const ValueId row = outline.builder.parameter(word, "row");
    std::vector<Value> inner;
    for (const Value& argument : arguments)
        inner.push_back(f_.passed(outline, f_.borrowed(argument), "argument"));
    std::vector<Value> globals;
    for (const Value& global : f_.globals_) globals.push_back(f_.passed(outline, global, "global"));
    std::array<Value, kAxes> sizes;
    for (size_t axis = 0; axis < kAxes; ++axis)
        sizes[axis] = f_.passed(outline, integer_of(size[axis]), "size");
    const Value bytes = f_.passed(outline, integer_of(own_bytes), "bytes");
    {
        const Beside beside(f_, outline.builder);
        for (Value& value : inner) value = f_.inside(value);
        for (Value& global : globals) global = f_.inside(global);
        std::swap(f_.globals_, globals);
        f_.pass_facts(outline, beside);
        const ValueId y = sizes[1].parts[0];
        const std::array thread = {column, f_.apply(OpId::kRemainder, {row, y}),
                                   f_.apply(OpId::kFloorDivide, {row, y})};
        for (size_t axis = 0; axis < kAxes; ++axis)
            f_.note(thread[axis], {0, kMostThreadsOfBlock, sizes[axis].parts[0], 0});
        set_thread(thread);
        set_own_memory(number, bytes.parts[0]);
        call_kernel(kernel, inner);
        f_.builder_->return_values({});
        std::swap(f_.globals_, globals);
    }
    ir::Function threads = outline.builder.finish_function({});
    const ValueId all = f_.apply(OpId::kMultiply, {f_.apply(OpId::kMultiply, {size[0], size[1]}), size[2]});
    f_.builder_->spread(threads.name, all, size[0], outline.arguments, /*together=*/true);
    f_.compilation_.add_function(std::move(threads));
}

// The numbers of a place, and its block's memory and its own.
void FunctionLowering::Kernels::set_place(std::span<const ValueId> numbers, std::span<const Value> memory) {
    for (size_t k = 0; k < numbers.size(); ++k) f_.note(numbers[k], fact_of_place(k));
    const size_t first = first_place();
    f_.globals_[first] = {f_.compilation_.globals()[first].type, {numbers.begin(), numbers.end()}, 0};
    std::copy(memory.begin(), memory.end(), f_.globals_.begin() + static_cast<std::ptrdiff_t>(first) + 1);
}

void FunctionLowering::Kernels::run_on_cpu(const Launch& launch) {
    const KernelMemory& memory = f_.compilation_.kernel_memory();
    const auto& [x, y, z] = launch.size;
    const ValueId row = f_.apply(OpId::kFloorDivide, {launch.block, launch.grid[0]});
    const ValueId block_bytes = index(memory.bytes_of(PlaceArgument::kBlockMemory));
    const ValueId own_bytes = index(memory.bytes_of(PlaceArgument::kOwnMemory));
    const std::array<ValueId, kPlaceNumbers> numbers = {
        index(0),
        index(0),
        index(0),
        f_.apply(OpId::kRemainder, {launch.block, launch.grid[0]}),
        f_.apply(OpId::kRemainder, {row, launch.grid[1]}),
        f_.apply(OpId::kFloorDivide, {row, launch.grid[1]}),
        x,
        y,
        z,
        launch.grid[0],
        launch.grid[1],
        launch.grid[2],
        launch.dynamic_bytes,
        block_bytes};
    const size_t temporaries = f_.temporaries_.size();
    const auto allocate = [&](uint16_t scope, ValueId bytes) {
        return f_.borrowed(f_.allocate(ScalarType::kUInt8, std::span(&bytes, 1), where_, scope));
    };
    std::vector<Value> memories = {
        allocate(kBlockMemoryScope, f_.apply(OpId::kAdd, {block_bytes, launch.dynamic_bytes}))};
    if (memory.bytes_of(PlaceArgument::kOwnMemory) > 0) {
        const ValueId threads =
            launch.code.meets ? f_.apply(OpId::kMultiply, {f_.apply(OpId::kMultiply, {x, y}), z}) : index(1);
        memories.push_back(allocate(kOwnMemoryScope, f_.apply(OpId::kMultiply, {own_bytes, threads})));
    }
    set_place(numbers, memories);
    if (launch.code.meets) {
        run_together(launch.kernel, launch.arguments, launch.size, own_bytes);
    } else {
        run_threads(launch.kernel, launch.arguments, launch.size, own_bytes);
    }
    f_.end_temporaries(temporaries);
}

// This thread's part.
void FunctionLowering::Kernels::run_on_gpu(const Launch& launch) {
    const KernelMemory& memory = f_.compilation_.kernel_memory();
    std::vector<ValueId> numbers;
    for (const Intrinsic which : {Intrinsic::kThreadNumber, Intrinsic::kBlockNumber}) {
        for (size_t axis = 0; axis < kAxes; ++axis) {
            const ValueId operand = index(static_cast<int64_t>(axis));
            numbers.push_back(f_.builder_->intrinsic(which, std::span(&operand, 1))[0]);
        }
    }
    for (const auto& sizes : {launch.size, launch.grid})
        numbers.insert(numbers.end(), sizes.begin(), sizes.end());
    const ValueId block_bytes = index(memory.bytes_of(PlaceArgument::kBlockMemory));
    const ValueId own_bytes = index(memory.bytes_of(PlaceArgument::kOwnMemory));
    numbers.insert(numbers.end(), {launch.dynamic_bytes, block_bytes});
    std::vector<Value> memories = {memory_at(PlaceArgument::kBlockMemory,
                                             f_.builder_->intrinsic(Intrinsic::kBlockMemory, {})[0],
                                             f_.apply(OpId::kAdd, {block_bytes, launch.dynamic_bytes}))};
    if (memory.bytes_of(PlaceArgument::kOwnMemory) > 0) {
        memories.push_back(memory_at(
            PlaceArgument::kOwnMemory,
            f_.builder_->intrinsic(Intrinsic::kThreadMemory, std::span(&own_bytes, 1))[0], own_bytes));
    }
    set_place(numbers, memories);
    for (size_t axis = 0; axis < kAxes; ++axis) {
        f_.note(numbers[axis], {0, kMostThreadsOfBlock, launch.size[axis], 0});
        f_.note(numbers[kAxes + axis], {0, kMostOfPlace, launch.grid[axis], 0});
    }
    call_kernel(launch.kernel, launch.arguments);
}

Value FunctionLowering::Kernels::memory_at(PlaceArgument argument, ValueId address, ValueId bytes) {
    const TypeRef type = place_arguments()[static_cast<size_t>(argument)].type;
    return {type, {f_.builder_->memory(buffer_type(type).buffer, address), bytes}, 0};
}

// What a launch gives, but for how many bytes and the number of a block.
struct FunctionLowering::Kernels::Given {
    const FunctionSource* kernel;
    std::vector<Value> values;
    std::vector<TypeRef> types;
    std::array<ValueId, kAxes> grid{}, size{};
};

FunctionLowering::Kernels::Given FunctionLowering::Kernels::given(const Arguments& arguments) {
    const std::vector<Value>& all = arguments.positional;
    const TypeRef callee = all.at(0).type;
    Given result{callee->kind == TypeKind::kSymbol ? callee->symbol->function : nullptr, {}, {}};
    if (result.kernel == nullptr)
        f_.fail(where_, callee->kind == TypeKind::kSymbol ? callee->symbol->path : "a kernel is a function");
    const Value& tuple = all.back();
    for (size_t i = 0; i < tuple.type->parts.size(); ++i) {
        result.values.push_back(f_.tuple_item(tuple, i));
        result.types.push_back(without_literals(result.values.back().type));
    }
    if (f_.dry_) return result;
    for (size_t axis = 0; axis < kAxes; ++axis) {
        result.grid[axis] = all.at(1).parts[axis];
        result.size[axis] = all.at(2).parts[axis];
    }
    return result;
}

// Of a kernel whose threads can all be loops.
std::optional<ThreadUses> FunctionLowering::Kernels::uses_of_tiles(const Specialised& code) const {
    const Options& options = f_.compilation_.options();
    if (code.meets || options.for_gpu || options.tells_accesses) return std::nullopt;
    ThreadUses uses = find_thread_uses(f_.compilation_.module(), f_.compilation_.function(code.name),
                                       f_.compilation_.globals());
    return uses.block_memory ? std::nullopt : std::optional(std::move(uses));
}

// (kernel, sizes of the grid, sizes of a block, arguments): how many parts it is cut into, of which each is
// run by run_block.
Value FunctionLowering::Kernels::count_blocks(const Arguments& arguments) {
    const Given given = this->given(arguments);
    if (f_.dry_) {
        f_.compilation_.result_of(*given.kernel, given.types, f_.spot(where_));
        return integer_of({});
    }
    const Specialised& code = f_.compilation_.specialise(*given.kernel, given.types, f_.spot(where_));
    std::array<ValueId, kAxes> counts = given.grid;
    if (const std::optional<ThreadUses> uses = uses_of_tiles(code))
        counts = cut(*uses, given.grid, given.size).counts;
    return integer_of(
        f_.apply(OpId::kMultiply, {f_.apply(OpId::kMultiply, {counts[0], counts[1]}), counts[2]}));
}

// (kernel, sizes of the grid, sizes of a block, bytes, number of the block, arguments)
Value FunctionLowering::Kernels::run_block(const Arguments& arguments) {
    Given given = this->given(arguments);
    const auto& [kernel, values, types, grid, size] = given;
    const TypeRef result = f_.compilation_.result_of(*kernel, types, f_.spot(where_));
    if (result->kind != TypeKind::kNone && result->kind != TypeKind::kNever)
        throw CompileError(
            render({kernel, 0},
                   "a kernel returns nothing, and '" + kernel->name + "' gives " + lang::describe(result), {},
                   "Write what it computes into an array that it is given."));
    if (f_.dry_) {
        f_.call_source(*kernel, {}, {values, {}, where_});  // which notes what it writes
        return f_.none();
    }
    // What memory it asks for is known when it has been lowered.
    const Specialised& known = f_.compilation_.specialise(*kernel, types, f_.spot(where_));
    f_.target_.written.insert(known.written.begin(), known.written.end());
    const Launch launch{*kernel,
                        known,
                        values,
                        grid,
                        size,
                        f_.as_index(arguments.positional.at(3), where_),
                        f_.as_index(arguments.positional.at(4), where_)};
    const std::vector<Value> before = f_.globals_;
    if (f_.compilation_.options().for_gpu) {
        run_on_gpu(launch);
    } else if (const std::optional<ThreadUses> uses = uses_of_tiles(known)) {
        run_tile(launch, cut(*uses, grid, size));
    } else {
        run_on_cpu(launch);
    }
    f_.globals_ = before;
    return f_.none();
}

}  // namespace weft::lang
