#include "passes/threads/thread_parts.h"

#include <algorithm>
#include <utility>

#include "passes/threads/thread_fission.h"

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

// What a thread's numbers give at no more than this cost is computed again in each part.
constexpr int kCheapToRepeat = 6;
constexpr int64_t kLanes = 16;

template <class Visit>
void for_each_operand(const Instruction& instruction, const Visit& visit) {
    for (const ValueId operand : instruction.operands) visit(operand);
    for (const Region& region : instruction.regions) {
        for (const Instruction& inner : region.body) for_each_operand(inner, visit);
    }
}

}  // namespace

// --- homes ---------------------------------------------------------------------------------------------

void ThreadHomes::define(const Instruction& definition) {
    for (const ValueId result : definition.results) homes_[result.index] = {false, part_, &definition};
}

std::optional<const Instruction*> ThreadHomes::definition(ValueId value) const {
    const auto found = homes_.find(value.index);
    if (found == homes_.end()) return std::nullopt;
    return found->second.definition;
}

void ThreadHomes::use(ValueId value) {
    const auto found = homes_.find(value.index);
    if (found == homes_.end() || found->second.in_array || found->second.part == part_) return;
    if (levels_.of(value) != ThreadLevel::kThread) return;
    const Instruction& definition = *found->second.definition;
    if (function_.type(value).is_buffer) {  // made anew of what it is made of
        is_stuck_ |= !is_value(definition.opcode);
        for (const ValueId operand : definition.operands) use(operand);
        return;
    }
    if (cost_of_repeating(value) > kCheapToRepeat) crossing_.insert(value.index);
}

void ThreadHomes::use_in(const Instruction& instruction) {
    for_each_operand(instruction, [&](ValueId value) { use(value); });
}

int ThreadHomes::cost_of_repeating(ValueId value) const {
    constexpr int kNever = 1000;
    const auto found = homes_.find(value.index);
    if (levels_.of(value) != ThreadLevel::kThread || found == homes_.end()) return 0;
    if (found->second.in_array) return kNever;
    const Instruction& definition = *found->second.definition;
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

// --- parts ---------------------------------------------------------------------------------------------

ThreadParts::ThreadParts(Function& function, const ThreadLevels& levels, const ThreadHomes& homes,
                         Constants constants, const ThreadLevels::Place& place, const Shape& shape,
                         std::vector<Instruction>& into)
    : function_(function),
      levels_(levels),
      homes_(homes),
      constants_(std::move(constants)),
      place_(place),
      shape_(shape),
      next_scope_(unused_alias_scope(function)),
      out_(&into),
      outside_(function) {
    Builder builder = outside();
    zero_ = builder.index(0);
    one_ = builder.index(1);
    rows_ = builder.apply(OpId::kFloorDivide, {shape.threads, shape.row_length});
    begin();
}

void ThreadParts::begin() {
    const Type word = Type::of(ScalarType::kInt64);
    is_empty_ = true;
    in_row_.clear();
    threads_.clear();
    copier_.emplace(function_);
    here_.clear();
    row_ = function_.add_value(word, "row");
    column_ = function_.add_value(word, "column");
    const ValueId first = Builder(function_, in_row_).apply(OpId::kMultiply, {row_, shape_.row_length});
    number_ = Builder(function_, threads_).apply(OpId::kAdd, {first, column_});
    define(place_.row, row_);
    define(place_.column, column_);
    define(place_.number, number_);
}

void ThreadParts::define(ValueId value, ValueId local) {
    here_[value.index] = local;
    copier_->map(value, local);
}

void ThreadParts::end() {
    if (is_empty_) return begin();
    if (mask_.valid()) {
        std::vector<Instruction> masked{std::move(threads_.front())};
        const ValueId takes_part = Builder(function_, masked).load(mask_, std::span(&number_, 1));
        Instruction branch{
            .opcode = Opcode::kIf, .operands = {takes_part}, .regions = std::vector<Region>(2)};
        branch.regions[0].body.assign(std::make_move_iterator(threads_.begin() + 1),
                                      std::make_move_iterator(threads_.end()));
        for (Region& region : branch.regions) region.body.push_back({.opcode = Opcode::kYield});
        masked.push_back(std::move(branch));
        threads_ = std::move(masked);
    }
    const auto loop = [&](ValueId upper, ValueId counter, std::vector<Instruction> body) {
        Instruction result{
            .opcode = Opcode::kFor, .operands = {zero_, upper, one_}, .regions = std::vector<Region>(1)};
        body.push_back({.opcode = Opcode::kYield});
        result.regions[0] = {{counter}, std::move(body)};
        return result;
    };
    Instruction columns = loop(shape_.row_length, column_, std::move(threads_));
    columns.lanes = kLanes;
    in_row_.push_back(std::move(columns));
    out_->push_back(loop(rows_, row_, std::move(in_row_)));
    begin();
}

Region ThreadParts::around(const std::function<Instruction()>& write) {
    Region region;
    std::vector<Instruction>* const outer = std::exchange(out_, &region.body);
    Instruction end_of_region = write();
    end();
    region.body.push_back(std::move(end_of_region));
    out_ = outer;
    return region;
}

void ThreadParts::copy_here(const Instruction& definition, std::vector<Instruction>& into) {
    for_each_operand(definition, [&](ValueId value) { bring(value); });
    Instruction copied = copier_->copy(definition);
    for (size_t i = 0; i < copied.results.size(); ++i) here_[definition.results[i].index] = copied.results[i];
    into.push_back(std::move(copied));
}

// Makes a value known in the part.
ValueId ThreadParts::bring(ValueId value) {
    if (const auto local = here_.find(value.index); local != here_.end()) return local->second;
    const std::optional<const Instruction*> definition = homes_.definition(value);
    if (!definition) {
        // Of all threads, or of a region that is being copied.
        const ValueId common = outside_.mapped({value})[0];
        if (common != value) define(value, common);
        return common;
    }
    if (*definition == nullptr || homes_.crosses(value)) {
        const ValueId from = array(value);
        define(value, inside().load(from, std::span(&number_, 1)));
    } else if (levels_.of(value) == ThreadLevel::kRow) {
        copy_here(**definition, in_row_);
    } else {
        copy_here(**definition, threads_);
    }
    return here_.at(value.index);
}

void ThreadParts::keep(const Values& values) {
    for (const ValueId value : values) {
        if (homes_.crosses(value))
            inside().store(array(value), here_.at(value.index), std::span(&number_, 1));
    }
}

void ThreadParts::append_when_needed(const Instruction& instruction) {
    const bool crosses =
        std::ranges::any_of(instruction.results, [&](ValueId result) { return homes_.crosses(result); });
    if (is_value(instruction.opcode) && !crosses) return;
    is_empty_ = false;
    copy_here(instruction, threads_);
    keep(instruction.results);
}

void ThreadParts::define_kept(ValueId value, ValueId local) {
    define(value, local);
    keep({value});
}

ValueId ThreadParts::rename_common(ValueId value) {
    ValueInfo info = function_.values[value.index];
    const ValueId renamed = function_.add_value(std::move(info.type), std::move(info.name));
    outside_.map(value, renamed);
    return renamed;
}

// As the body of a branch of the part, which yields nothing: what it would yield goes into places.
void ThreadParts::append_copy_of_region(const Region& from, Region& to, const Values& places) {
    for (const Instruction& each : from.body) for_each_operand(each, [&](ValueId value) { bring(value); });
    for (const Instruction& each : from.body) {
        if (each.opcode != Opcode::kYield) {
            to.body.push_back(copier_->copy(each));
            continue;
        }
        Builder builder(function_, to.body);
        const Values values = copier_->mapped(each.operands);
        for (size_t i = 0; i < values.size(); ++i)
            builder.store(array(places[i]), values[i], std::span(&number_, 1));
        to.body.push_back({.opcode = Opcode::kYield});
    }
}

// Whether the value waits in the place already.
bool ThreadParts::is_there(ValueId place, ValueId value) {
    const std::optional<const Instruction*> definition = homes_.definition(value);
    return definition && *definition == nullptr && array(place) == array(value);
}

// All are read before one is written.
void ThreadParts::store(const Values& places, const Values& values) {
    Values locals, into;
    for (size_t i = 0; i < values.size(); ++i) {
        if (levels_.of(places[i]) != ThreadLevel::kThread || is_there(places[i], values[i])) continue;
        locals.push_back(bring(values[i]));
        into.push_back(array(places[i]));
    }
    for (size_t i = 0; i < locals.size(); ++i) inside().store(into[i], locals[i], std::span(&number_, 1));
}

ValueId ThreadParts::array(ValueId value) {
    const auto found = arrays_.find(value.index);
    if (found != arrays_.end()) return found->second;
    const ValueId made = make_array(function_.type(value).scalar, "of_threads");
    arrays_[value.index] = made;
    return made;
}

std::optional<int64_t> ThreadParts::known(ValueId value) const {
    const auto found = constants_.find(value.index);
    return found == constants_.end() ? std::nullopt : std::optional(found->second);
}

ValueId ThreadParts::make_array(ScalarType element, const char* name, int64_t more) {
    BufferType type{.element = element, .space = AddressSpace::kLocal, .alias_scope = next_scope_++};
    type.strides = {DType(element).itemsize()};
    type.sizes = {kMostThreads + more};
    return Builder(function_, allocations_).allocate(std::move(type), name);
}

ValueId ThreadParts::fold(ValueId initial, const std::function<ValueId(Builder&, ValueId, ValueId)>& step) {
    return outside().for_loop(zero_, shape_.threads, one_, std::span(&initial, 1),
                              [&](Builder& body, std::span<const ValueId> arguments) -> Values {
                                  return {step(body, arguments[0], arguments[1])};
                              })[0];
}

}  // namespace weft::passes
