// A block of a launch: its threads one after another, or, where they wait for each other, together.
#include <algorithm>

#include "lang/kernels/kernels.h"
#include "lang/parallel/outline.h"

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr size_t kAxes = 3;

}  // namespace

void FunctionLowering::Kernels::set_thread(std::span<const ValueId> thread) {
    const std::vector<GlobalArgument>& globals = f_.compilation_.globals();
    const auto first = std::find_if(globals.begin(), globals.end(), is_place_argument) - globals.begin();
    std::copy(thread.begin(), thread.end(), f_.globals_[static_cast<size_t>(first)].parts.begin());
}

// Of thread `number`: so many bytes of what all threads have.
void FunctionLowering::Kernels::set_own_memory(ValueId number, ValueId bytes) {
    const std::vector<GlobalArgument>& globals = f_.compilation_.globals();
    const auto first = std::find_if(globals.begin(), globals.end(), is_place_argument) - globals.begin();
    Value& memory = f_.globals_[static_cast<size_t>(first) + static_cast<size_t>(PlaceArgument::kOwnMemory)];
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
                                  f_.note(at[0], {0, INT64_MAX, size[axis], 0});
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
    outline.builder.parameter(word, "from");
    outline.builder.parameter(word, "to");
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
        const ValueId x = sizes[0].parts[0], y = sizes[1].parts[0];
        const ValueId row = f_.apply(OpId::kFloorDivide, {number, x});
        const std::array thread = {f_.apply(OpId::kRemainder, {number, x}),
                                   f_.apply(OpId::kRemainder, {row, y}),
                                   f_.apply(OpId::kFloorDivide, {row, y})};
        for (size_t axis = 0; axis < kAxes; ++axis)
            f_.note(thread[axis], {0, INT64_MAX, sizes[axis].parts[0], 0});
        set_thread(thread);
        set_own_memory(number, bytes.parts[0]);
        call_kernel(kernel, inner);
        f_.builder_->return_values({});
        std::swap(f_.globals_, globals);
    }
    ir::Function threads = outline.builder.finish_function({});
    const ValueId all = f_.apply(OpId::kMultiply, {f_.apply(OpId::kMultiply, {size[0], size[1]}), size[2]});
    f_.builder_->spread(threads.name, all, index(1), outline.arguments, /*together=*/true);
    f_.compilation_.add_function(std::move(threads));
}

// (kernel, sizes of the grid, sizes of a block, bytes, number of the block, arguments)
Value FunctionLowering::Kernels::run_block(const Arguments& arguments) {
    const std::vector<Value>& given = arguments.positional;
    const TypeRef callee = given.at(0).type;
    const FunctionSource* const kernel =
        callee->kind == TypeKind::kSymbol ? callee->symbol->function : nullptr;
    if (kernel == nullptr)
        f_.fail(where_, callee->kind == TypeKind::kSymbol ? callee->symbol->path : "a kernel is a function");
    std::vector<Value> values;
    std::vector<TypeRef> types;
    for (size_t i = 0; i < given.at(5).type->parts.size(); ++i) {
        values.push_back(f_.tuple_item(given[5], i));
        types.push_back(without_literals(values.back().type));
    }
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
    const KernelMemory& memory = f_.compilation_.kernel_memory();
    std::array<ValueId, kAxes> grid{}, size{};
    for (size_t axis = 0; axis < kAxes; ++axis) {
        grid[axis] = given[1].parts[axis];
        size[axis] = given[2].parts[axis];
    }
    const ValueId dynamic = f_.as_index(given[3], where_), block = f_.as_index(given[4], where_);
    const ValueId row = f_.apply(OpId::kFloorDivide, {block, grid[0]});
    const std::array<ValueId, kPlaceNumbers> numbers = {index(0),
                                                        index(0),
                                                        index(0),
                                                        f_.apply(OpId::kRemainder, {block, grid[0]}),
                                                        f_.apply(OpId::kRemainder, {row, grid[1]}),
                                                        f_.apply(OpId::kFloorDivide, {row, grid[1]}),
                                                        size[0],
                                                        size[1],
                                                        size[2],
                                                        grid[0],
                                                        grid[1],
                                                        grid[2],
                                                        dynamic};
    for (const ValueId each : numbers) f_.note(each, {0, int64_t{1} << 31, {}, 0});
    const std::vector<Value> before = f_.globals_;
    const std::vector<GlobalArgument>& globals = f_.compilation_.globals();
    const auto first = static_cast<size_t>(std::find_if(globals.begin(), globals.end(), is_place_argument) -
                                           globals.begin());
    f_.globals_[first] = {globals[first].type, {numbers.begin(), numbers.end()}, 0};
    const size_t temporaries = f_.temporaries_.size();
    const auto give = [&](PlaceArgument argument, uint16_t scope, ValueId bytes) {
        f_.globals_[first + static_cast<size_t>(argument)] =
            f_.borrowed(f_.allocate(ScalarType::kUInt8, std::span(&bytes, 1), where_, scope));
    };
    const ValueId own_bytes = index(memory.bytes_of(PlaceArgument::kOwnMemory));
    give(PlaceArgument::kBlockMemory, kBlockMemoryScope,
         f_.apply(OpId::kAdd, {index(memory.bytes_of(PlaceArgument::kBlockMemory)), aligned(dynamic)}));
    const ValueId threads =
        known.meets ? f_.apply(OpId::kMultiply, {f_.apply(OpId::kMultiply, {size[0], size[1]}), size[2]})
                    : index(1);
    if (memory.bytes_of(PlaceArgument::kOwnMemory) > 0)
        give(PlaceArgument::kOwnMemory, kOwnMemoryScope, f_.apply(OpId::kMultiply, {own_bytes, threads}));
    if (known.meets) {
        run_together(*kernel, values, size, own_bytes);
    } else {
        run_threads(*kernel, values, size, own_bytes);
    }
    f_.end_temporaries(temporaries);
    f_.globals_ = before;
    return f_.none();
}

}  // namespace weft::lang
