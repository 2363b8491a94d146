// Builds kernel IR: the only way frontends (graph lowering, the Python kernel compiler) make functions.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace weft::ir {

class Builder {
public:
    explicit Builder(std::string function_name);
    // Appends to a body of a function that exists already; for passes. There is nothing to finish.
    Builder(Function& function, std::vector<Instruction>& into);
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;

    ValueId parameter(Type type, std::string name);

    ValueId constant(Constant value);
    ValueId index(int64_t value);
    ValueId apply(const OpInfo& op,
                  std::span<const ValueId> operands);  // single result; throws InternalError
    ValueId apply(OpId op, std::initializer_list<ValueId> operands);
    // Of an operation that the program defines it is a call, whose callee the module has to have.
    std::vector<ValueId> apply_multiple(const OpInfo& op, std::span<const ValueId> operands);
    ValueId cast(ValueId value, ScalarType to);  // returns `value` itself when the type is the same
    ValueId load(ValueId buffer, std::span<const ValueId> indices);
    ValueId load_if(ValueId buffer, std::span<const ValueId> indices, ValueId predicate, ValueId otherwise);
    void store(ValueId buffer, ValueId value, std::span<const ValueId> indices);
    void store_if(ValueId buffer, ValueId value, std::span<const ValueId> indices, ValueId predicate);
    ValueId atomic(const OpInfo& op, ValueId buffer, ValueId value, std::span<const ValueId> indices,
                   MemoryOrder order, MemoryScope scope);
    ValueId compare_exchange(ValueId buffer, ValueId expected, ValueId desired,
                             std::span<const ValueId> indices, MemoryOrder order, MemoryScope scope);
    ValueId allocate(BufferType type, std::string name,
                     std::span<const ValueId> sizes = {});  // those that are dynamic
    // Other memory of the same buffer: `type` says its element, rank, strides and whether it may be written;
    // it has the buffer's space and alias scope. `strides` are those that are dynamic; none at all where they
    // are the buffer's own.
    ValueId view(ValueId buffer, BufferType type, ValueId byte_offset, std::span<const ValueId> strides = {},
                 std::string name = {});
    ValueId null(BufferType type, std::string name = {});  // a buffer without elements
    struct HeapBlock {
        ValueId owner, buffer;
    };
    // Raises `site` when there is no memory. `owners` are in it; with `grown` it takes that one's place.
    HeapBlock heap(BufferType type, ValueId bytes, std::span<const ValueId> strides, uint32_t site,
                   Instruction::Owners owners = {}, ValueId grown = {});
    ValueId address(ValueId buffer);
    ValueId memory(BufferType type, ValueId address, std::span<const ValueId> strides = {});
    void retain(ValueId owner);
    void release(ValueId owner);
    void barrier();

    using Body = std::function<std::vector<ValueId>(
        Builder&, std::span<const ValueId> arguments)>;  // returns the yield
    void parallel(ParallelLevel level, std::span<const ValueId> sizes, const Body& body);
    std::vector<ValueId> for_loop(ValueId lower, ValueId upper, ValueId step,
                                  std::span<const ValueId> initials, const Body& body);
    // The next loop is that one of the program.
    void set_loop_site(uint32_t site) { loop_site_ = site; }
    // What is appended from now on is of this line of the program (Instruction::line); gives the one before.
    uint32_t set_line(uint32_t line) { return std::exchange(line_, line); }
    // Whose iterations do not depend on each other, so that they may be lanes of vectors.
    void for_lanes(ValueId lower, ValueId upper, int64_t lanes, const Body& body);
    std::vector<ValueId> while_loop(std::span<const ValueId> initials, const Body& condition,
                                    const Body& body);
    // Where both bodies leave, so does the body that this is built in: has_ended() tells.
    // `likely`: the condition holds nearly always.
    std::vector<ValueId> if_else(ValueId condition, const Body& then_body, const Body& else_body,
                                 bool likely = false);
    // Each accumulator starts from `initials`, an identity of `combine`; combine gets left... then right....
    // The order of combination is a function of size, lanes and block alone (docs/reference/kernel-ir.md).
    std::vector<ValueId> reduce(ValueId size, std::span<const ValueId> initials, int64_t lanes, int64_t block,
                                const Body& element, const Body& combine);
    void scan(ValueId size, std::span<const ValueId> initials, const Body& element, const Body& combine,
              const Body& consume);
    // Exits end the body that is being built; what its function returns is ignored. `depth` loops lie between
    // the exit and the loop that it leaves or goes on with.
    void break_loop(std::vector<ValueId> results, int depth = 0);
    void continue_loop(std::vector<ValueId> carried, int depth = 0);
    void return_values(std::vector<ValueId> results);
    void raise(uint32_t site, std::vector<ValueId> payload);
    void raise_again(ValueId error);  // what a catching call gave
    // Raises where `holds` is false; ends nothing.
    void tell(uint32_t site, std::vector<ValueId> payload);
    void check(ValueId holds, uint32_t site, std::span<const ValueId> payload);
    // Whether the body that is being built has its end: nothing may be appended any more.
    bool has_ended() const;
    std::vector<ValueId> call(const Function& callee, std::span<const ValueId> arguments);
    // Of a function that is not there yet; the results' types are as they are here (ir/calls.h).
    std::vector<ValueId> call(std::string callee, std::span<const Type> results,
                              std::span<const ValueId> arguments, bool lazy = false);

    // The error, which is 0 where there is none, and the results.
    std::vector<ValueId> call_catching(std::string callee, std::span<const Type> results,
                                       std::span<const ValueId> arguments);

    std::vector<ValueId> intrinsic(Intrinsic intrinsic, std::span<const ValueId> operands);
    // Of a function that may not be there yet. `together`: the calls are a block's threads.
    void spread(std::string callee, ValueId size, ValueId chunk, std::span<const ValueId> arguments,
                bool together = false);

    // Of other machine code, with the types of its results (ir.h, kExternal).
    std::vector<ValueId> external(std::string callee, std::span<const ValueId> arguments,
                                  std::span<const Type> results, bool tells_status);
    // Of the engine; after each buffer come its sizes.
    ValueId engine(std::string callee, std::span<const ValueId> arguments);

    // For passes: an instruction as it is, whose results have their values.
    Instruction& append(Instruction instruction);
    Function& function() { return *function_; }

    const Type& type(ValueId value) const { return function_->type(value); }
    void set_name(ValueId value, std::string name) { function_->values[value.index].name = std::move(name); }
    // Appends the return, unless the body has its end; the builder is empty afterwards.
    Function finish(std::vector<ValueId> results = {});
    Function finish_function(std::vector<Type> result_types);  // of a body that has ended

private:
    ValueId new_value(Type type, std::string name = {});
    Function take(std::vector<Type> result_types);
    Region region(std::span<const Type> argument_types, const Body& body);

    Function own_;
    Function* function_ = &own_;
    std::vector<std::vector<Instruction>*> insertion_;  // innermost region last
    uint32_t loop_site_ = 0;
    uint32_t line_ = 0;
};

}  // namespace weft::ir
