#include "ir/verifier.h"
#include "ir/intrinsic.h"

#include <algorithm>
#include <optional>
#include <set>

#include "ir/calls.h"
#include "ir/operand_checks.h"
#include "ir/printer.h"
#include "ir/uniformity.h"
#include "ops/engine_function.h"
#include "weft/errors.h"

namespace weft::ir {

namespace {

constexpr size_t kMaxGridRank = 8;  // device/kernel.h: kMaxGridDimensions
constexpr size_t kMaxBlockRank = 3;

// A loop, for the exits in it.
struct Loop {
    std::vector<Type> results, carried;
    const Loop* around = nullptr;
};

// Where an instruction stands.
struct Place {
    bool in_grid = false;
    bool in_block = false;
    bool nested = false;      // in a loop, branch or reduction below the innermost parallel region
    bool no_barrier = false;  // in a body of a reduction or scan
    bool pure = false;        // in a body that may write only to buffers that it allocated itself:
    std::set<uint32_t>* pure_locals = nullptr;
    const Loop* loop = nullptr;  // the innermost that may be left
    bool may_return = true;
};

class Verifier : OperandChecks {
public:
    Verifier(const Function& function, const Module* module)
        : OperandChecks(function),
          module_(module),
          visible_(function.values.size()),
          defined_(function.values.size()) {}

    std::vector<std::string> run() {
        std::vector<ValueId> scope;
        for (ValueId parameter : function_.parameters) define(parameter, scope, "a parameter");
        for (ValueId parameter : function_.parameters) {
            if (!valid(parameter)) continue;
            const Type& type = function_.type(parameter);
            if (type.is_buffer &&
                (type.buffer.space != AddressSpace::kGlobal || !type.buffer.sizes.empty())) {
                complain("parameter " + name(parameter) + " must be a global buffer without sizes");
            }
        }
        for (const Type& type : function_.result_types) {
            if (type.is_buffer && !is_plain_global(type)) complain("only global buffers can be returned");
        }
        if (function_.is_kernel && !function_.result_types.empty()) complain("a kernel has no results");
        if (!function_.body.arguments.empty()) complain("the body of a function has no arguments");
        check_body(function_.body, {}, scope);
        if (errors_.empty() && function_.is_kernel) check_barriers();
        return std::move(errors_);
    }

private:
    void define(ValueId value, std::vector<ValueId>& scope, const std::string& what) {
        if (!valid(value)) {
            complain(what + " has no entry in the table of values");
            return;
        }
        if (defined_[value.index]) complain(name(value) + " is defined twice");
        defined_[value.index] = true;
        visible_[value.index] = true;
        scope.push_back(value);
    }

    // Of what a loop carries or a branch gives.
    std::vector<Type> carried_types(const Instruction& instruction, std::span<const ValueId> values,
                                    const Place& place) {
        for (ValueId value : values) {
            const Type* type = type_of(value);
            if (type == nullptr || !type->is_buffer) continue;
            if (place.in_block) {
                complain(instruction, "only scalars can be carried in a block");
            } else if (!is_plain_global(*type)) {
                complain(instruction, "only scalars and global buffers can be carried");
            }
        }
        return types_of(values);
    }

    // --- bodies ---

    void check_body(const Region& region, const Place& place, std::vector<ValueId>& scope) {
        const bool is_function = &region == &function_.body;
        if (region.body.empty() || !ends_body(region.body.back().opcode) ||
            (is_function && region.body.back().opcode != Opcode::kReturn &&
             region.body.back().opcode != Opcode::kRaise)) {
            complain("a body does not end with " + std::string(is_function ? "return" : "yield"));
        }
        std::set<uint32_t> own_locals;
        Place inner = place;
        if (place.pure && place.pure_locals == nullptr) inner.pure_locals = &own_locals;
        for (const Instruction& instruction : region.body) {
            bool ends = ends_body(instruction.opcode);
            if (ends && &instruction != &region.body.back())
                complain(instruction, "stands before the end of a body");
            for (ValueId operand : instruction.operands) {
                if (!valid(operand) || !visible_[operand.index]) {
                    complain(instruction, "uses " + name(operand) + ", which is not defined there");
                }
            }
            check_instruction(instruction, inner);
            if (instruction.opcode == Opcode::kAllocate && !instruction.results.empty() && place.pure) {
                inner.pure_locals->insert(instruction.results[0].index);
            }
            for (ValueId result : instruction.results) define(result, scope, "a result");
        }
    }

    void check_region(const Instruction& instruction, size_t index, std::span<const Type> argument_types,
                      const Place& place) {
        const Region& region = instruction.regions[index];
        expect_types(instruction, region.arguments, argument_types,
                     "argument of region " + std::to_string(index));
        std::vector<ValueId> scope;
        for (ValueId argument : region.arguments) define(argument, scope, "an argument");
        check_body(region, place, scope);
        for (ValueId value : scope) visible_[value.index] = false;
    }

    // A body that leaves a loop or the function yields nothing.
    void expect_yield_or_exit(const Instruction& instruction, size_t index, std::span<const Type> types) {
        if (yields(instruction.regions[index])) expect_yield(instruction, index, types);
    }

    void expect_yield(const Instruction& instruction, size_t index, std::span<const Type> types) {
        if (!yields(instruction.regions[index])) {
            complain(instruction, "region " + std::to_string(index) + " must end with yield");
            return;
        }
        expect_types(instruction, instruction.regions[index].body.back().operands, types,
                     "yield of region " + std::to_string(index));
    }

    // `after` operands follow the indices.
    void check_element(const Instruction& instruction, size_t after, bool writes, const Place& place) {
        const size_t first = opcode_info(instruction.opcode).index;
        const std::vector<ValueId>& operands = instruction.operands;
        const Type* type = type_of(operands[0]);
        if (type == nullptr || !type->is_buffer) {
            complain(instruction, "its first operand must be a buffer");
            return;
        }
        size_t rank = type->buffer.strides.size();
        if (operands.size() != first + rank + after) {
            complain(instruction,
                     "the buffer has " + std::to_string(rank) + " dimensions, the indices are " +
                         std::to_string(operands.size() - std::min(operands.size(), first + after)));
            return;
        }
        for (size_t i = first; i < first + rank; i++)
            expect(instruction, operands[i], ScalarType::kInt64, "an index");
        if (!writes) return;
        if (type->buffer.readonly)
            complain(instruction, "writes to the read-only buffer " + name(operands[0]));
        if (place.in_block && points_own_.count(operands[0].index) > 0) {
            complain(instruction, "writes to " + name(operands[0]) +
                                      ", which the block's threads share, but is not shared memory");
        }
        if (place.pure && place.pure_locals->count(operands[0].index) == 0) {
            complain(instruction,
                     "writes in a body of a reduction, to a buffer that the body did not allocate");
        }
    }

    void check_instruction(const Instruction& instruction, const Place& place) {
        const std::vector<ValueId>& operands = instruction.operands;
        const std::vector<ValueId>& results = instruction.results;
        const Type index = Type::of(ScalarType::kInt64);
        if (!has_shape(instruction)) return;
        switch (instruction.opcode) {
            case Opcode::kConstant: check_constant(instruction); break;
            case Opcode::kApply: check_apply(instruction); break;
            case Opcode::kCast:
                scalar_types(instruction, operands);
                scalar_types(instruction, results);
                break;
            case Opcode::kLoad: {
                size_t after = instruction.predicated ? 2 : 0;
                check_element(instruction, after, false, place);
                ScalarType element = element_of(operands[0]);
                expect(instruction, results[0], element, "the result");
                if (instruction.predicated) {
                    expect(instruction, operands[operands.size() - 2], ScalarType::kBool, "the predicate");
                    expect(instruction, operands.back(), element, "the other value");
                }
                break;
            }
            case Opcode::kStore: {
                size_t after = instruction.predicated ? 1 : 0;
                check_element(instruction, after, true, place);
                expect(instruction, operands[1], element_of(operands[0]), "the value");
                if (instruction.predicated) {
                    expect(instruction, operands.back(), ScalarType::kBool, "the predicate");
                }
                break;
            }
            case Opcode::kAtomic: {
                if (!check_loop(instruction)) return;
                check_element(instruction, 0, true, place);
                ScalarType element = element_of(operands[0]);
                expect(instruction, operands[1], element, "the value");
                expect(instruction, results[0], element, "the result");
                const LoopInfo& loop = instruction.op->loops[static_cast<size_t>(instruction.loop)];
                if (instruction.op->nin != 2 || instruction.op->nout != 1 || loop.types[0] != element ||
                    loop.types[1] != element || loop.types[2] != element) {
                    complain(instruction, "the operation must take two elements of the buffer and give one");
                }
                check_atomic_element(instruction, element);
                break;
            }
            case Opcode::kCompareExchange: {
                check_element(instruction, 0, true, place);
                ScalarType element = element_of(operands[0]);
                expect(instruction, operands[1], element, "the expected value");
                expect(instruction, operands[2], element, "the desired value");
                expect(instruction, results[0], element, "the result");
                check_atomic_element(instruction, element);
                break;
            }
            case Opcode::kAllocate: check_allocate(instruction, place); break;
            case Opcode::kView: check_view(instruction, place); break;
            case Opcode::kNull: expect_plain_global(instruction, results[0]); break;
            case Opcode::kAddress:
                expect_outside_of_grids(instruction, place);
                if (!valid(operands[0]) || !is_plain_global(function_.type(operands[0])))
                    complain(instruction, "takes a global buffer");
                expect(instruction, results[0], ScalarType::kInt64, "the address");
                break;
            case Opcode::kMemory:
                expect_outside_of_grids(instruction, place);
                expect(instruction, operands[0], ScalarType::kInt64, "the address");
                if (expect_plain_global(instruction, results[0])) check_strides(instruction, 1, results[0]);
                break;
            case Opcode::kHeap: check_heap(instruction, place); break;
            case Opcode::kRetain:
            case Opcode::kRelease:
                expect_outside_of_grids(instruction, place);
                expect(instruction, operands[0], ScalarType::kInt64, "the owner");
                break;
            case Opcode::kBarrier:
                if (!place.in_block && function_.is_kernel)
                    complain(instruction, "stands outside of a block");
                if (place.no_barrier) complain(instruction, "stands in a body of a reduction");
                break;
            case Opcode::kIntrinsic:
                if (!place.in_block && function_.is_kernel)
                    complain(instruction, "stands outside of a block");
                if (place.no_barrier) complain(instruction, "stands in a body of a reduction");
                check_intrinsic(instruction);
                break;
            case Opcode::kFor: {
                expect(instruction, operands[0], ScalarType::kInt64, "the lower bound");
                expect(instruction, operands[1], ScalarType::kInt64, "the upper bound");
                expect(instruction, operands[2], ScalarType::kInt64, "the step");
                std::vector<Type> carried = carried_types(instruction, std::span(operands).subspan(3), place);
                std::vector<Type> arguments{index};
                arguments.insert(arguments.end(), carried.begin(), carried.end());
                const Loop loop{carried, carried, place.loop};
                check_region(instruction, 0, arguments, place_in(loop, place));
                expect_yield_or_exit(instruction, 0, carried);
                expect_types(instruction, results, carried, "result");
                if (instruction.lanes < 1 || (instruction.lanes > 1 && !carried.empty()))
                    complain(instruction, "a loop of lanes carries no values, and has at least one lane");
                break;
            }
            case Opcode::kWhile: {
                std::vector<Type> carried = carried_types(instruction, operands, place);
                const Loop loop{types_of(results), carried, place.loop};
                check_region(instruction, 0, carried, closed(nested_place(place)));
                std::span<const ValueId> condition = instruction.regions[0].body.back().operands;
                if (condition.empty() || !yields(instruction.regions[0])) {
                    complain(instruction, "its condition yields nothing");
                    return;
                }
                expect(instruction, condition[0], ScalarType::kBool, "the condition");
                std::vector<Type> forwarded = carried_types(instruction, condition.subspan(1), place);
                check_region(instruction, 1, forwarded, place_in(loop, place));
                expect_yield_or_exit(instruction, 1, carried);
                expect_types(instruction, results, forwarded, "result");
                break;
            }
            case Opcode::kIf: {
                expect(instruction, operands[0], ScalarType::kBool, "the condition");
                const std::vector<Type> types = types_of(results);
                for (size_t i = 0; i < 2; i++) {
                    check_region(instruction, i, {}, nested_place(place));
                    expect_yield_or_exit(instruction, i, types);
                }
                if (!yields(instruction.regions[0]) && !yields(instruction.regions[1]))
                    complain(instruction, "both bodies leave: what follows is never reached");
                carried_types(instruction, results, place);
                break;
            }
            case Opcode::kParallel: check_parallel(instruction, place); break;
            case Opcode::kReduce:
            case Opcode::kScan: {
                bool scans = instruction.opcode == Opcode::kScan;
                expect(instruction, operands[0], ScalarType::kInt64, "the size");
                std::vector<Type> elements = scalar_types(instruction, std::span(operands).subspan(1));
                std::vector<Type> pairs = elements;
                pairs.insert(pairs.end(), elements.begin(), elements.end());
                if (elements.empty()) complain(instruction, "there is nothing to combine");
                Place inner = closed(nested_place(place));
                inner.no_barrier = true;
                Place pure = inner;
                pure.pure = true;
                check_region(instruction, 0, std::span(&index, 1), pure);
                expect_yield(instruction, 0, elements);
                check_region(instruction, 1, pairs, pure);
                expect_yield(instruction, 1, elements);
                if (scans) {
                    if (place.pure) complain(instruction, "stands in a body of a reduction");
                    std::vector<Type> consumed{index};
                    consumed.insert(consumed.end(), elements.begin(), elements.end());
                    check_region(instruction, 2, consumed, inner);
                    expect_yield(instruction, 2, {});
                    break;
                }
                expect_types(instruction, results, elements, "result");
                int64_t lanes = instruction.lanes, block = instruction.block;
                if (lanes < 1 || (lanes & (lanes - 1)) != 0)
                    complain(instruction, "lanes must be a power of two");
                else if (block < 0 || block % lanes != 0)
                    complain(instruction, "block must be a multiple of lanes");
                break;
            }
            case Opcode::kCall: check_call(instruction, place); break;
            case Opcode::kSpread: check_spread(instruction, place); break;
            case Opcode::kEngine: check_engine(instruction, place); break;
            case Opcode::kExternal: check_external(instruction, place); break;
            case Opcode::kTell:
            case Opcode::kCheck:
            case Opcode::kRaise: {
                if (!place.may_return)
                    complain(instruction, "stands in a parallel region, a reduction or a scan");
                if (instruction.again) {
                    expect(instruction, operands.at(0), ScalarType::kInt64, "the error");
                    break;
                }
                const size_t first = instruction.opcode == Opcode::kCheck ? 1 : 0;
                if (first == 1) expect(instruction, operands[0], ScalarType::kBool, "the condition");
                for (ValueId value : std::span(operands).subspan(first)) {
                    if (valid(value) && function_.type(value).is_buffer)
                        complain(instruction, "only scalars can be told");
                }
                break;
            }
            case Opcode::kYield: break;
            case Opcode::kBreak:
            case Opcode::kContinue: check_exit(instruction, place); break;
            case Opcode::kReturn:
                if (!place.may_return)
                    complain(instruction, "stands in a parallel region, a reduction or a scan");
                expect_types(instruction, operands, function_.result_types, "result");
                break;
        }
    }

    void check_intrinsic(const Instruction& instruction) {
        const IntrinsicInfo& info = intrinsic_info(instruction.intrinsic);
        std::optional<ScalarType> value;
        const auto check = [&](std::string_view kinds, const std::vector<ValueId>& values, const char* what) {
            if (kinds.size() != values.size())
                return complain(instruction, "has another number of " + std::string(what));
            for (size_t i = 0; i < kinds.size(); ++i) {
                const Type* type = type_of(values[i]);
                if (type == nullptr || type->is_buffer) return complain(instruction, "takes scalars");
                if (kinds[i] == 'v' && !value) value = type->scalar;
                expect(instruction, values[i],
                       kinds[i] == 'b'   ? ScalarType::kBool
                       : kinds[i] == 'i' ? ScalarType::kInt64
                                         : *value,
                       what);
            }
        };
        check(info.operands, instruction.operands, "operands");
        check(info.results, instruction.results, "results");
        if (value && DType(*value).is_complex()) complain(instruction, "takes no complex numbers");
    }

    void check_exit(const Instruction& instruction, const Place& place) {
        const Loop* loop = place.loop;
        for (int i = 0; i < instruction.depth && loop != nullptr; i++) loop = loop->around;
        if (loop == nullptr || instruction.depth < 0) {
            complain(instruction, "there is no such loop around it");
        } else if (instruction.opcode == Opcode::kBreak) {
            expect_types(instruction, instruction.operands, loop->results, "result of the loop");
        } else {
            expect_types(instruction, instruction.operands, loop->carried, "carried value");
        }
    }

    static Place place_in(const Loop& loop, Place place) {
        place.nested = true;
        place.loop = &loop;
        return place;
    }

    // For a body that is run as a whole.
    static Place closed(Place place) {
        place.loop = nullptr;
        place.may_return = false;
        return place;
    }

    static Place nested_place(Place place) {
        place.nested = true;
        return place;
    }

    void check_allocate(const Instruction& instruction, const Place& place) {
        if (!valid(instruction.results[0])) return;
        const Type& type = function_.type(instruction.results[0]);
        if (!type.is_buffer || type.buffer.space == AddressSpace::kGlobal) {
            complain(instruction, "gives a shared or local buffer");
            return;
        }
        const BufferType& buffer = type.buffer;
        if (buffer.space == AddressSpace::kLocal && !place.in_block)
            points_own_.insert(instruction.results[0].index);
        if (buffer.sizes.size() != buffer.strides.size())
            complain(instruction, "needs a size for each stride");
        size_t dynamic = 0;
        for (size_t d = buffer.sizes.size(); d-- > 0;) {
            if (buffer.sizes[d] == kDynamic) {
                dynamic++;
            } else if (buffer.sizes[d] < 1) {
                complain(instruction, "sizes must be positive");
            }
            bool behind_dynamic = d + 1 < buffer.sizes.size() && dynamic > (buffer.sizes[d] == kDynamic);
            if (d < buffer.strides.size() && buffer.strides[d] < 0 &&
                !(buffer.strides[d] == kDynamic && behind_dynamic)) {
                complain(instruction, "strides must be constants, not negative");
            }
        }
        if (instruction.operands.size() != dynamic)
            complain(instruction, "needs an operand for each '?' in its sizes");
        for (ValueId size : instruction.operands) expect(instruction, size, ScalarType::kInt64, "a size");
        if (dynamic > 0 && buffer.space != AddressSpace::kShared)
            complain(instruction, "only sizes of shared memory may be '?'");
        if (buffer.readonly) complain(instruction, "cannot be read-only");
        if (buffer.space == AddressSpace::kShared &&
            (!place.in_grid || place.in_block || (place.nested && dynamic == 0))) {
            complain(instruction, "shared memory is allocated in a grid's body, outside of blocks and loops");
        }
    }

    void expect_outside_of_grids(const Instruction& instruction, const Place& place) {
        if (place.in_grid || !place.may_return)
            complain(instruction, "stands in a parallel region, a reduction or a scan");
    }

    void check_heap(const Instruction& instruction, const Place& place) {
        expect_outside_of_grids(instruction, place);
        expect(instruction, instruction.operands[0], ScalarType::kInt64, "the number of bytes");
        if (instruction.grows) {
            if (instruction.operands.size() < 2) return complain(instruction, "grows nothing");
            expect(instruction, instruction.operands[1], ScalarType::kInt64, "the owner that it grows");
        }
        expect(instruction, instruction.results[0], ScalarType::kInt64, "the owner");
        const auto& [from, stride, count] = instruction.owners;
        constexpr int64_t kWord = 8;
        if (count < 0 || from < 0 || from % kWord != 0 ||
            (count > 0 && (stride < count * kWord || stride % kWord != 0)))
            complain(instruction, "has owners that are no words beside each other");
        if (expect_plain_global(instruction, instruction.results[1]))
            check_strides(instruction, instruction.grows ? 2 : 1, instruction.results[1]);
    }

    void check_view(const Instruction& instruction, const Place& place) {
        const ValueId from = instruction.operands[0], result = instruction.results[0];
        const Type *base = type_of(from), *type = type_of(result);
        if (base == nullptr || type == nullptr || !base->is_buffer || !type->is_buffer) {
            complain(instruction, "gives a buffer of a buffer");
            return;
        }
        expect(instruction, instruction.operands[1], ScalarType::kInt64, "the offset");
        const BufferType &whole = base->buffer, &view = type->buffer;
        if (view.space != whole.space || view.alias_scope != whole.alias_scope)
            complain(instruction, "must be of the space and the scope of " + name(from));
        if (whole.readonly && !view.readonly) complain(instruction, "must be read-only as " + name(from));
        if (!view.sizes.empty()) complain(instruction, "has no sizes");
        // A pass makes other memory of what a thread has.
        if (place.in_block && view.space == AddressSpace::kLocal)
            complain(instruction, "a block's threads have no views of local memory");
        const bool keeps_strides =
            instruction.operands.size() == 2 &&
            std::find(view.strides.begin(), view.strides.end(), kDynamic) != view.strides.end();
        if (!keeps_strides) {
            check_strides(instruction, 2, result);
        } else if (!std::equal(view.strides.begin(), view.strides.end(), whole.strides.begin(),
                               whole.strides.end(), [](int64_t of_view, int64_t known) {
                                   return of_view == kDynamic || of_view == known;
                               })) {
            complain(instruction, "needs an operand for each '?' in its strides, or those of " + name(from));
        }
        if (points_own_.count(from.index) > 0) points_own_.insert(result.index);
        if (place.pure && place.pure_locals->count(from.index) > 0) place.pure_locals->insert(result.index);
    }

    void check_parallel(const Instruction& instruction, const Place& place) {
        bool grid = instruction.level == ParallelLevel::kGrid;
        if (grid && (place.in_grid || place.nested))
            complain(instruction, "a grid stands in a kernel's body only");
        if (grid && !function_.is_kernel) complain(instruction, "a grid stands in a kernel only");
        if (!grid && (!place.in_grid || place.in_block))
            complain(instruction, "a block stands in a grid only");
        if (!grid && place.no_barrier) complain(instruction, "stands in a body of a reduction");
        if (instruction.operands.size() > (grid ? kMaxGridRank : kMaxBlockRank)) {
            complain(instruction, "has too many dimensions");
        }
        for (ValueId size : instruction.operands) expect(instruction, size, ScalarType::kInt64, "a size");
        Place inner = closed(place);
        inner.nested = false;
        (grid ? inner.in_grid : inner.in_block) = true;
        bool ranged = instruction.range_dimension >= 0;
        if (ranged &&
            (!grid || instruction.range_dimension >= static_cast<int>(instruction.operands.size()))) {
            complain(instruction, "only a dimension of a grid comes in ranges");
        }
        std::vector<Type> arguments(instruction.operands.size() + (ranged ? 1 : 0),
                                    Type::of(ScalarType::kInt64));
        check_region(instruction, 0, arguments, inner);
        expect_yield(instruction, 0, {});
    }

    void check_call(const Instruction& instruction, const Place& place) {
        if (module_ == nullptr) return;
        const Function* callee = module_->find(instruction.callee);
        if (callee == nullptr) {
            complain(instruction, "there is no function @" + instruction.callee);
            return;
        }
        if (callee->is_kernel) complain(instruction, "@" + instruction.callee + " is a kernel");
        if (instruction.lazy && function_.is_kernel) complain(instruction, "a kernel calls lazily");
        const CallScopes scopes(*callee, function_, instruction.operands);
        std::vector<Type> parameters, results;
        if (instruction.catches) results.push_back(Type::of(ScalarType::kInt64));
        for (ValueId parameter : callee->parameters) parameters.push_back(callee->type(parameter));
        for (const Type& result : callee->result_types) results.push_back(scopes.in_caller(result));
        expect_arguments(instruction, parameters);
        expect_types(instruction, instruction.results, results, "result");
        if (!scopes.agree())
            complain(instruction, "its parameters of one scope get arguments of several scopes");
        if (place.pure && std::any_of(parameters.begin(), parameters.end(), [](const Type& type) {
                return type.is_buffer && !type.buffer.readonly;
            })) {
            complain(instruction,
                     "in a body of a reduction, a callee may get only buffers that are read-only");
        }
        if (!place.may_return && (instruction.catches || raises(*callee))) {
            complain(instruction,
                     "@" + instruction.callee +
                         " may raise, which nothing does in a parallel region, a reduction or a scan");
        }
    }

    void check_engine(const Instruction& instruction, const Place& place) {
        if (function_.is_kernel || !place.may_return)
            complain(instruction, "stands in a kernel, a reduction or a scan");
        expect(instruction, instruction.results[0], ScalarType::kInt64, "the answer");
        const EngineFunction* callee = find_engine_function(instruction.callee);
        if (callee == nullptr) {
            complain(instruction, "the engine has no function @" + instruction.callee);
            return;
        }
        const std::vector<ValueId>& operands = instruction.operands;
        size_t at = 0;
        for (const char kind : callee->parameters) {
            if (at >= operands.size()) {
                complain(instruction, "has too few arguments");
                return;
            }
            const ValueId value = operands[at++];
            if (!valid(value)) return;
            if (kind == 'i' || kind == 'd') {
                expect(instruction, value, kind == 'i' ? ScalarType::kInt64 : ScalarType::kFloat64,
                       "an argument");
                continue;
            }
            const Type& type = function_.type(value);
            if (!type.is_buffer || type.buffer.space != AddressSpace::kGlobal) {
                complain(instruction, "takes a global buffer");
                return;
            }
            if (kind == 'w' && type.buffer.readonly)
                complain(instruction, "writes a buffer that is readonly");
            for (size_t d = 0; d < type.buffer.strides.size(); ++d) {
                if (at >= operands.size()) {
                    complain(instruction, "has too few sizes");
                    return;
                }
                expect(instruction, operands[at++], ScalarType::kInt64, "a size");
            }
        }
        if (at != operands.size()) complain(instruction, "has too many arguments");
    }

    void check_external(const Instruction& instruction, const Place& place) {
        if (function_.is_kernel || !place.may_return)
            complain(instruction, "stands in a kernel, a reduction or a scan");
        const size_t status = instruction.tells_status ? 1 : 0;
        if (instruction.results.size() < status || instruction.results.size() > status + 1) {
            complain(instruction, "has another number of results than one, besides a status");
            return;
        }
        if (status == 1) expect(instruction, instruction.results[0], ScalarType::kInt32, "the status");
        for (const ValueId result : instruction.results) {
            if (function_.type(result).is_buffer) complain(instruction, "gives a buffer");
        }
    }

    void check_spread(const Instruction& instruction, const Place& place) {
        if (function_.is_kernel || !place.may_return)
            complain(instruction, "stands in a kernel, a reduction or a scan");
        expect(instruction, instruction.operands[0], ScalarType::kInt64, "the size");
        expect(instruction, instruction.operands[1], ScalarType::kInt64, "the chunk");
        if (module_ == nullptr) return;
        const Function* callee = module_->find(instruction.callee);
        if (callee == nullptr) {
            complain(instruction, "there is no function @" + instruction.callee);
            return;
        }
        if (callee->is_kernel) complain(instruction, "@" + instruction.callee + " is a kernel");
        if (!callee->result_types.empty()) complain(instruction, "@" + instruction.callee + " has results");
        std::vector<Type> parameters;
        for (ValueId parameter : callee->parameters) parameters.push_back(callee->type(parameter));
        const Type index = Type::of(ScalarType::kInt64);
        constexpr size_t kOwn = 3;  // number, from, to
        if (parameters.size() < kOwn || !std::all_of(parameters.begin(), parameters.begin() + kOwn,
                                                     [&](const Type& type) { return type == index; })) {
            complain(instruction, "@" + instruction.callee + " does not begin with three i64");
            return;
        }
        parameters.erase(parameters.begin(), parameters.begin() + kOwn);
        Instruction call = instruction;
        call.operands.erase(call.operands.begin(), call.operands.begin() + 2);
        const std::span<const ValueId> own = std::span(callee->parameters).first(kOwn);
        expect_arguments(call, parameters);
        std::vector<ValueId> given(own.size(), instruction.operands[0]);
        given.insert(given.end(), call.operands.begin(), call.operands.end());
        if (!CallScopes(*callee, function_, given).agree())
            complain(instruction, "its parameters of one scope get arguments of several scopes");
    }

    bool raises(const Function& function) const {
        std::set<const Function*> seen;
        return raises(function, seen);
    }

    bool raises(const Function& function, std::set<const Function*>& seen) const {
        if (!seen.insert(&function).second) return false;
        return any_of(function.body, [&](const Instruction& each) {
            constexpr Opcode kRaising[] = {Opcode::kCheck,  Opcode::kRaise, Opcode::kHeap,
                                           Opcode::kSpread, Opcode::kTell,  Opcode::kEngine};
            if (std::ranges::find(kRaising, each.opcode) != std::end(kRaising)) return true;
            const Function* callee = each.opcode == Opcode::kCall ? module_->find(each.callee) : nullptr;
            return callee != nullptr && raises(*callee, seen);
        });
    }

    template <class Predicate>
    static bool any_of(const Region& region, const Predicate& predicate) {
        for (const Instruction& instruction : region.body) {
            if (predicate(instruction)) return true;
            for (const Region& inner : instruction.regions) {
                if (any_of(inner, predicate)) return true;
            }
        }
        return false;
    }

    // Every thread of a block must come to the same barriers, so nothing that differs between threads may
    // decide whether or how often one is reached.
    void check_barriers() {
        std::vector<bool> varying = varying_in_block(function_);
        check_barriers(function_.body, varying, "");
    }

    // Returns whether the region contains a barrier.
    bool check_barriers(const Region& region, const std::vector<bool>& varying,
                        const std::string& divergence) {
        bool any = false;
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kBarrier) {
                any = true;
                if (!divergence.empty()) complain(instruction, "not all threads reach it: " + divergence);
            }
            std::string inner = divergence;
            auto depends = [&](ValueId value) {
                if (inner.empty() && varying[value.index]) {
                    inner = "a '" + std::string(opcode_name(instruction.opcode)) + "' around it depends on " +
                            name(value) + ", which differs between threads";
                }
            };
            if (instruction.opcode == Opcode::kIf) depends(instruction.operands[0]);
            if (instruction.opcode == Opcode::kFor) {
                for (size_t i = 0; i < 3; i++) depends(instruction.operands[i]);
            }
            if (instruction.opcode == Opcode::kWhile) depends(instruction.regions[0].body.back().operands[0]);
            if (instruction.opcode == Opcode::kParallel) inner.clear();
            bool inside = false;
            for (const Region& nested : instruction.regions) inside |= check_barriers(nested, varying, inner);
            if (inside && is_loop(instruction.opcode) && is_left(instruction))
                complain(instruction, "a barrier stands in it, so it must not be left by an exit");
            any |= inside;
        }
        return any;
    }

    const Module* module_;
    std::vector<bool> visible_;
    std::vector<bool> defined_;
    std::set<uint32_t> points_own_;  // local buffers that are allocated outside of a block
};

}  // namespace

std::vector<std::string> verify(const Function& function, const Module* module) {
    return Verifier(function, module).run();
}

void check(const Function& function, const Module* module) {
    std::vector<std::string> errors = verify(function, module);
    if (errors.empty()) return;
    std::string text = "ill-formed kernel IR\n";
    for (const std::string& error : errors) text += "  " + error + "\n";
    throw InternalError(text + print(function));
}

void check(const Module& module) {
    for (const Function& function : module.functions) check(function, &module);
}

}  // namespace weft::ir
