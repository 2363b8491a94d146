#include "passes/barrier_fission.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/uniformity.h"
#include "passes/rewrite.h"
#include "weft/errors.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

// What is computed from the thread's indices at no more than this cost is computed again after a barrier.
constexpr int kCheapToRepeat = 4;

bool has_barrier(const Instruction& instruction) {
    return instruction.opcode == Opcode::kBarrier ||
           std::any_of(instruction.regions.begin(), instruction.regions.end(), [](const Region& region) {
               return std::any_of(region.body.begin(), region.body.end(), has_barrier);
           });
}

template <class Visit>
void for_each_operand(const Instruction& instruction, const Visit& visit) {
    for (const ValueId operand : instruction.operands) visit(operand);
    for (const Region& region : instruction.regions) {
        for (const Instruction& inner : region.body) for_each_operand(inner, visit);
    }
}

const Values& yielded(const Region& region) { return region.body.back().operands; }

// One `parallel block`. It is walked twice, in the same order: first to find which part each value is
// defined and used in, then to write the parts.
class BlockSplit {
public:
    BlockSplit(Function& function, const Instruction& block, const std::vector<bool>& varying,
               const std::unordered_map<uint32_t, int64_t>& constants, uint16_t& next_scope)
        : function_(function),
          block_(block),
          varying_(varying),
          constants_(constants),
          next_scope_(next_scope) {}

    // What takes the block's place, and what is to be allocated before.
    void run(std::vector<Instruction>& into, std::vector<Instruction>& allocations) {
        const Region& body = block_.regions[0];
        for (const ValueId index : body.arguments) homes_[index.index] = {Home::kIndex};
        find_homes(body);

        std::vector<Instruction> parts;
        allocations_ = &allocations;
        out_ = &parts;
        begin_part();
        write(body);
        end_part();
        parts.insert(parts.begin(), std::make_move_iterator(dynamic_allocations_.begin()),
                     std::make_move_iterator(dynamic_allocations_.end()));
        guard(parts, into);
    }

private:
    // Where a value of the block is while its threads run. Values without entry are the same for all threads
    // and stand outside of the parts.
    struct Home {
        enum Kind { kIndex, kPart, kArray } kind = kPart;
        int part = 0;  // that defines it
        const Instruction* definition = nullptr;
    };

    const Home* home(ValueId value) const {
        const auto found = homes_.find(value.index);
        return found == homes_.end() ? nullptr : &found->second;
    }
    bool varies(ValueId value) const { return varying_[value.index]; }

    // --- the first walk ------------------------------------------------------------------------------

    void next_part() {
        ++part_;
        written_.clear();
        all_written_ = false;
    }

    void find_homes(const Region& region) {
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kYield) return;
            if (instruction.opcode == Opcode::kBarrier) {
                next_part();
            } else if (has_barrier(instruction)) {
                find_homes_around(instruction);
            } else if (is_common(instruction)) {
                common_.insert(&instruction);
            } else {
                for_each_operand(instruction, [&](ValueId value) { use_in_part(value); });
                for (const ValueId result : instruction.results)
                    homes_[result.index] = {Home::kPart, part_, &instruction};
                note_writes(instruction);
            }
        }
    }

    void find_homes_around(const Instruction& instruction) {
        const Flow flow = flow_of(instruction);
        for (const ValueId value : flow.conditions) use_outside(value);
        for (const auto& [places, values] : flow.entries) pass(places, values);
        for (const Values& names : flow.names) {
            for (const ValueId name : names) {
                if (varies(name)) homes_[name.index] = {Home::kArray};
            }
        }
        next_part();
        for (size_t i = 0; i < instruction.regions.size(); ++i) {
            const Region& region = instruction.regions[i];
            find_homes(region);
            for (const ValueId value : flow.regions[i].conditions) use_outside(value);
            pass(flow.regions[i].places, flow.regions[i].values);
            next_part();
        }
    }

    void pass(const Values& places, const Values& values) {
        for (size_t i = 0; i < values.size(); ++i) {
            if (varies(places[i])) {
                use_in_part(values[i]);
            } else {
                use_outside(values[i]);
            }
        }
    }

    void use_in_part(ValueId value) {
        const Home* found = home(value);
        if (found == nullptr || found->kind != Home::kPart || found->part == part_) return;
        if (is_buffer_value(value)) {  // made anew of what it is made of
            for (const ValueId operand : found->definition->operands) use_in_part(operand);
            return;
        }
        if (cost_of_repeating(value) > kCheapToRepeat) crossing_.insert(value.index);
    }
    void use_outside(ValueId value) {
        if (home(value) != nullptr) crossing_.insert(value.index);
    }

    // A view, say, but not memory that is allocated.
    bool is_buffer_value(ValueId value) const {
        const Home* found = home(value);
        return found != nullptr && found->kind == Home::kPart && function_.type(value).is_buffer &&
               is_value(found->definition->opcode);
    }

    int cost_of_repeating(ValueId value) const {
        constexpr int kNever = 1000;
        const Home* found = home(value);
        if (found == nullptr || found->kind == Home::kIndex) return 0;
        if (found->kind != Home::kPart) return kNever;
        const Instruction& definition = *found->definition;
        int cost = definition.opcode == Opcode::kConstant ? 0
                   : definition.opcode == Opcode::kCast   ? 1
                   : definition.opcode == Opcode::kApply  ? definition.op->cost
                                                          : kNever;
        for (const ValueId operand : definition.operands) {
            if (cost > kCheapToRepeat) break;
            cost += cost_of_repeating(operand);
        }
        return cost;
    }

    void note_writes(const Instruction& instruction) {
        all_written_ |= instruction.opcode == Opcode::kExternal;
        if (opcode_info(instruction.opcode).effect == OpcodeEffect::kWrite) {
            // A store has no order.
            all_written_ |=
                instruction.opcode != Opcode::kStore && instruction.order != MemoryOrder::kRelaxed;
            written_.insert(function_.type(instruction.operands[0]).buffer.alias_scope);
        }
        for (const Region& region : instruction.regions) {
            for (const Instruction& inner : region.body) note_writes(inner);
        }
    }

    // Whether the instruction is the same for all threads, and may be run once for all, before the part in
    // which it stands.
    bool is_common(const Instruction& instruction) const {
        bool outside = true;
        for_each_operand(instruction, [&](ValueId value) { outside &= home(value) == nullptr; });
        return outside && only_computes(instruction);
    }

    bool only_computes(const Instruction& instruction) const {
        const auto differs = [&](ValueId value) { return varies(value); };
        if (std::any_of(instruction.results.begin(), instruction.results.end(), differs)) return false;
        if (is_value(instruction.opcode)) return true;
        switch (instruction.opcode) {
            case Opcode::kYield:
            case Opcode::kFor:
            case Opcode::kIf:
            case Opcode::kWhile:
            case Opcode::kReduce: break;
            case Opcode::kLoad: {
                const uint16_t scope = function_.type(instruction.operands[0]).buffer.alias_scope;
                return !all_written_ && !written_.contains(scope);
            }
            default: return false;
        }
        if (std::any_of(instruction.operands.begin(), instruction.operands.end(), differs)) return false;
        return std::all_of(instruction.regions.begin(), instruction.regions.end(), [&](const Region& region) {
            return std::none_of(region.arguments.begin(), region.arguments.end(), differs) &&
                   std::all_of(region.body.begin(), region.body.end(),
                               [&](const Instruction& inner) { return only_computes(inner); });
        });
    }

    // --- control flow around barriers ----------------------------------------------------------------

    // Which values go where in a loop or branch. `places` and `values` are pairs: an argument or result, and
    // what it becomes.
    struct Flow {
        struct End {  // of a region
            Values conditions, places, values;
        };
        Values conditions;                               // what decides whether it runs
        std::vector<std::pair<Values, Values>> entries;  // at most one
        std::vector<End> regions;
        std::vector<Values> names;  // of the values that are passed on
    };

    static Values from(const Values& values, size_t first) {
        return {values.begin() + static_cast<std::ptrdiff_t>(first), values.end()};
    }

    static Flow flow_of(const Instruction& instruction) {
        const std::vector<Region>& regions = instruction.regions;
        Flow flow;
        switch (instruction.opcode) {
            case Opcode::kFor: {
                const Values carried = from(regions[0].arguments, 1);
                flow.conditions = {instruction.operands.begin(), instruction.operands.begin() + 3};
                flow.entries = {{carried, from(instruction.operands, 3)}};
                flow.regions = {{{}, carried, yielded(regions[0])}};
                flow.names = {carried, instruction.results};
                break;
            }
            case Opcode::kIf:
                flow.conditions = instruction.operands;
                for (const Region& region : regions)
                    flow.regions.push_back({{}, instruction.results, yielded(region)});
                flow.names = {instruction.results};
                break;
            case Opcode::kWhile: {
                const Values& tested = yielded(regions[0]);
                flow.entries = {{regions[0].arguments, instruction.operands}};
                flow.regions = {{{tested[0]}, regions[1].arguments, from(tested, 1)},
                                {{}, regions[0].arguments, yielded(regions[1])}};
                flow.names = {regions[0].arguments, regions[1].arguments, instruction.results};
                break;
            }
            default: throw InternalError("a barrier in " + std::string(opcode_name(instruction.opcode)));
        }
        return flow;
    }

    // --- the second walk -----------------------------------------------------------------------------

    void begin_part() {
        region_ = {};
        copier_.emplace(function_);
        here_.clear();
        for (const ValueId index : block_.regions[0].arguments) {
            ValueInfo info = function_.values[index.index];
            region_.arguments.push_back(function_.add_value(std::move(info.type), std::move(info.name)));
            stands_for(index, region_.arguments.back());
        }
    }

    void end_part() {
        if (region_.body.empty()) return;
        region_.body.push_back({.opcode = Opcode::kYield});
        Instruction part{.opcode = Opcode::kParallel, .operands = block_.operands};
        part.level = ParallelLevel::kBlock;
        part.regions.push_back(std::move(region_));
        out_->push_back(std::move(part));
        begin_part();
    }

    void stands_for(ValueId original, ValueId local) {
        here_[original.index] = local;
        copier_->map(original, local);
    }

    void write(const Region& region) {
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kYield) return;
            if (instruction.opcode == Opcode::kBarrier) {
                end_part();
            } else if (has_barrier(instruction)) {
                write_around(instruction);
            } else if (common_.contains(&instruction)) {
                out_->push_back(instruction);
            } else {
                write_in_part(instruction);
            }
        }
    }

    void write_in_part(const Instruction& instruction) {
        const bool crosses = std::any_of(instruction.results.begin(), instruction.results.end(),
                                         [&](ValueId result) { return crossing_.contains(result.index); });
        if (instruction.opcode == Opcode::kAllocate && crosses) {
            spread(instruction.results[0]);
            return;
        }
        for_each_operand(instruction, [&](ValueId value) { bring(value); });
        Instruction copied = copier_->copy(instruction);
        add_thread_indices(copied);
        for (size_t i = 0; i < copied.results.size(); ++i)
            here_[instruction.results[i].index] = copied.results[i];
        const Values results = copied.results;
        region_.body.push_back(std::move(copied));
        for (size_t i = 0; i < results.size(); ++i) {
            if (crossing_.contains(instruction.results[i].index))
                builder().store(array(instruction.results[i]), results[i], region_.arguments);
        }
    }

    Builder builder() { return {function_, region_.body}; }

    // Makes a value known in the part that is being written.
    ValueId bring(ValueId value) {
        const Home* found = home(value);
        if (found == nullptr) return value;
        if (const auto local = here_.find(value.index); local != here_.end()) return local->second;
        if (const auto buffer = arrays_.find(value.index);
            buffer != arrays_.end() && function_.type(value).is_buffer) {
            stands_for(value, buffer->second);
        } else if (found->kind == Home::kPart && !crossing_.contains(value.index)) {
            const Instruction& definition = *found->definition;
            for (const ValueId operand : definition.operands) bring(operand);
            const Instruction copied = copier_->copy(definition);
            for (size_t i = 0; i < copied.results.size(); ++i)
                here_[definition.results[i].index] = copied.results[i];
            region_.body.push_back(copied);
        } else {
            const ValueId from = array(value);
            stands_for(value, builder().load(from, region_.arguments));
        }
        return here_.at(value.index);
    }

    // The value outside of the parts, where all threads have the same: that of the first one.
    ValueId bring_outside(ValueId value) {
        if (home(value) == nullptr) return value;
        Builder outside(function_, *out_);
        const Values first(block_.operands.size(), outside.index(0));
        return outside.load(array(value), first);
    }

    // Puts the values that differ between threads in their places; all are read before one is written.
    void store_in_places(const Values& places, const Values& values) {
        Values locals;
        for (size_t i = 0; i < values.size(); ++i) {
            if (varies(places[i])) locals.push_back(bring(values[i]));
        }
        size_t next = 0;
        for (size_t i = 0; i < values.size(); ++i) {
            if (varies(places[i])) builder().store(array(places[i]), locals[next++], region_.arguments);
        }
    }

    void append_common(const Values& places, const Values& values, Values& to) {
        for (size_t i = 0; i < values.size(); ++i) {
            if (!varies(places[i])) to.push_back(bring_outside(values[i]));
        }
    }

    void write_around(const Instruction& instruction) {
        const Flow flow = flow_of(instruction);
        share_places(instruction);
        for (const auto& [places, values] : flow.entries) store_in_places(places, values);
        end_part();
        Instruction around{.opcode = instruction.opcode};
        for (const ValueId value : flow.conditions) around.operands.push_back(bring_outside(value));
        for (const auto& [places, values] : flow.entries) append_common(places, values, around.operands);
        for (size_t i = 0; i < instruction.regions.size(); ++i) {
            const Flow::End& end = flow.regions[i];
            Region region;
            region.arguments = common_of(instruction.regions[i].arguments);
            std::vector<Instruction>* outer = std::exchange(out_, &region.body);
            write(instruction.regions[i]);
            store_in_places(end.places, end.values);
            end_part();
            Instruction yield{.opcode = Opcode::kYield};
            for (const ValueId value : end.conditions) yield.operands.push_back(bring_outside(value));
            append_common(end.places, end.values, yield.operands);
            region.body.push_back(std::move(yield));
            out_ = outer;
            around.regions.push_back(std::move(region));
        }
        around.results = common_of(instruction.results);
        out_->push_back(std::move(around));
    }

    Values common_of(const Values& values) const {
        Values common;
        for (const ValueId value : values) {
            if (!varies(value)) common.push_back(value);
        }
        return common;
    }

    // What a loop carries is in one place, whatever it is called before, inside and after.
    void share_places(const Instruction& instruction) {
        const auto share = [&](const Values& names, const Values& with) {
            for (size_t i = 0; i < names.size(); ++i) {
                WEFT_CHECK(varies(names[i]) == varies(with[i]),
                           "not all threads take a loop around a barrier alike");
                if (varies(names[i])) arrays_[names[i].index] = array(with[i]);
            }
        };
        if (instruction.opcode == Opcode::kFor)
            share(instruction.results, from(instruction.regions[0].arguments, 1));
        if (instruction.opcode == Opcode::kWhile)
            share(instruction.results, instruction.regions[1].arguments);
    }

    // --- arrays over the block's threads -------------------------------------------------------------

    ValueId array(ValueId value) {
        const auto found = arrays_.find(value.index);
        if (found != arrays_.end()) return found->second;
        const ValueInfo info = function_.values[value.index];
        return allocate(value, {.element = info.type.scalar}, info.name);
    }

    // A thread's own memory that is used in several parts becomes a row of memory of the block.
    void spread(ValueId buffer) {
        const ValueInfo info = function_.values[buffer.index];
        BufferType row = info.type.buffer;
        const ValueId whole = allocate(buffer, std::move(row), info.name);
        rows_.insert(whole.index);
    }

    ValueId allocate(ValueId value, BufferType type, const std::string& name) {
        int64_t bytes = DType(type.element).itemsize();
        for (size_t d = 0; d < type.sizes.size(); ++d) bytes += (type.sizes[d] - 1) * type.strides[d];
        type.space = AddressSpace::kShared;
        type.alias_scope = next_scope_++;
        Values sizes;
        for (size_t d = block_.operands.size(); d-- > 0;) {
            const auto constant = constants_.find(block_.operands[d].index);
            const bool known = constant != constants_.end();
            const int64_t threads = known ? std::max<int64_t>(constant->second, 1) : kDynamic;
            type.sizes.insert(type.sizes.begin(), threads);
            type.strides.insert(type.strides.begin(), bytes);
            if (!known) sizes.insert(sizes.begin(), block_.operands[d]);
            bytes = known && bytes != kDynamic ? bytes * threads : kDynamic;
        }
        const ValueId result = function_.add_value(Type::of(std::move(type)), name);
        (sizes.empty() ? *allocations_ : dynamic_allocations_)
            .push_back({.opcode = Opcode::kAllocate, .operands = std::move(sizes), .results = {result}});
        arrays_[value.index] = result;
        return result;
    }

    void add_thread_indices(Instruction& instruction) {
        if (!instruction.operands.empty() && rows_.contains(instruction.operands[0].index)) {
            const auto first = static_cast<std::ptrdiff_t>(opcode_info(instruction.opcode).index);
            WEFT_CHECK(first != 0, "an array of the threads' values is used otherwise than by its elements");
            instruction.operands.insert(instruction.operands.begin() + first, region_.arguments.begin(),
                                        region_.arguments.end());
        }
        for (Region& region : instruction.regions) {
            for (Instruction& inner : region.body) add_thread_indices(inner);
        }
    }

    // What stands outside of the parts may run only where there are threads.
    void guard(std::vector<Instruction>& parts, std::vector<Instruction>& into) {
        Builder b(function_, into);
        ValueId any;
        for (const ValueId size : block_.operands) {
            const auto constant = constants_.find(size.index);
            if (constant != constants_.end() && constant->second > 0) continue;
            const ValueId some = b.apply(OpId::kGreater, {size, b.index(0)});
            any = any.valid() ? b.apply(OpId::kLogicalAnd, {any, some}) : some;
        }
        const bool harmless = std::all_of(parts.begin(), parts.end(), [](const Instruction& instruction) {
            return instruction.opcode == Opcode::kParallel || is_value(instruction.opcode);
        });
        if (harmless || !any.valid()) {
            for (Instruction& instruction : parts) into.push_back(std::move(instruction));
            return;
        }
        Instruction branch{.opcode = Opcode::kIf, .operands = {any}, .regions = std::vector<Region>(2)};
        branch.regions[0].body = std::move(parts);
        for (Region& region : branch.regions) region.body.push_back({.opcode = Opcode::kYield});
        into.push_back(std::move(branch));
    }

    Function& function_;
    const Instruction& block_;
    const std::vector<bool>& varying_;
    const std::unordered_map<uint32_t, int64_t>& constants_;
    uint16_t& next_scope_;

    int part_ = 0;  // of the first walk
    std::unordered_map<uint32_t, Home> homes_;
    std::unordered_set<uint32_t> crossing_;          // defined in one part, needed in another or outside
    std::unordered_set<const Instruction*> common_;  // run once for all threads
    std::unordered_set<uint16_t> written_;           // alias scopes, in the part so far
    bool all_written_ = false;

    std::vector<Instruction>* allocations_ = nullptr;
    std::vector<Instruction> dynamic_allocations_;  // whose sizes are known where the block stands
    std::vector<Instruction>* out_ = nullptr;       // around the part
    Region region_;                                 // the part that is being written
    std::optional<Copier> copier_;
    std::unordered_map<uint32_t, ValueId> here_;    // value of the block -> in this part
    std::unordered_map<uint32_t, ValueId> arrays_;  // value of the block -> its array
    std::unordered_set<uint32_t> rows_;             // arrays that were threads' own memory
};

class Splitting {
public:
    explicit Splitting(Function& function) : function_(function) {}

    void run() {
        for (Instruction& instruction : function_.body.body) {
            if (instruction.opcode != Opcode::kParallel || !has_barrier(instruction)) continue;
            if (varying_.empty()) prepare();
            Region& body = instruction.regions[0];
            visit(body);
            body.body.insert(body.body.begin(), std::make_move_iterator(allocations_.begin()),
                             std::make_move_iterator(allocations_.end()));
            allocations_.clear();
        }
    }

private:
    void prepare() {
        varying_ = varying_in_block(function_);
        next_scope_ = unused_alias_scope(function_);
        find_constants(function_.body);
    }

    void find_constants(const Region& region) {
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kConstant && instruction.constant.type == ScalarType::kInt64)
                constants_[instruction.results[0].index] = instruction.constant.as<int64_t>();
            for (const Region& inner : instruction.regions) find_constants(inner);
        }
    }

    void visit(Region& region) {
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        for (Instruction& instruction : old) {
            if (instruction.opcode == Opcode::kParallel && has_barrier(instruction)) {
                BlockSplit(function_, instruction, varying_, constants_, next_scope_)
                    .run(region.body, allocations_);
                continue;
            }
            for (Region& inner : instruction.regions) visit(inner);
            region.body.push_back(std::move(instruction));
        }
    }

    Function& function_;
    std::vector<bool> varying_;
    std::unordered_map<uint32_t, int64_t> constants_;
    uint16_t next_scope_ = 0;
    std::vector<Instruction> allocations_;
};

}  // namespace

void barrier_fission(const Module&, Function& function) { Splitting(function).run(); }

}  // namespace weft::passes
