#include "lang/compilation.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "ir/intrinsic.h"
#include "lang/lowering.h"

namespace weft::lang {

namespace {

bool has_grid_barrier(const ir::Region& region) {
    return std::any_of(region.body.begin(), region.body.end(), [](const ir::Instruction& each) {
        return (each.opcode == ir::Opcode::kIntrinsic && each.intrinsic == ir::Intrinsic::kGridBarrier) ||
               std::any_of(each.regions.begin(), each.regions.end(), has_grid_barrier);
    });
}

}  // namespace

bool meets_grid(const ir::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(),
                       [](const ir::Function& each) { return has_grid_barrier(each.body); });
}

namespace {

void mark_sums(ir::Region& region, const ir::Function& function) {
    for (ir::Instruction& each : region.body) {
        for (ir::Region& inner : each.regions) mark_sums(inner, function);
        if (each.opcode != ir::Opcode::kApply || each.op == nullptr) continue;
        const OpId op = each.op->id;
        each.fast =
            (op == OpId::kAdd || op == OpId::kSubtract || op == OpId::kMultiply || op == OpId::kSquare) &&
            DType(function.type(each.results[0]).scalar).is_inexact();
    }
}

}  // namespace

uint16_t ScopeMap::canonical(uint16_t scope) const {
    const auto found = merged_.find(scope);
    return found == merged_.end() ? scope : canonical(found->second);
}

TypeRef ScopeMap::canonical(TypeRef type) {
    if (is_list(type)) {
        lists.know(type->list, type->parts[0]);
        return lists.type_of(type->list, [&](TypeRef element) { return canonical(element); });
    }
    if (!is_strided(type) && type->parts.empty()) return type;
    Type copy = *type;
    copy.scope = canonical(type->scope);
    for (TypeRef& part : copy.parts) part = canonical(part);
    return intern(std::move(copy));
}

void ScopeMap::merge(uint16_t one, uint16_t other) {
    one = canonical(one);
    other = canonical(other);
    WEFT_CHECK(one != other, "scopes that are one cannot meet");
    merged_[std::max(one, other)] = std::min(one, other);
}

std::string name_in_ir(std::string name) {
    for (char& c : name) {
        const bool is_part = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                             c == '_' || c == '.';
        if (!is_part) c = '_';
    }
    return name;
}

Specialised& Compilation::entry(const FunctionSource& function, std::span<const TypeRef> arguments,
                                const Spot& caller) {
    Key key{&function, {arguments.begin(), arguments.end()}, nullptr, 0, is_fast(function)};
    const bool of_call = has_lists_of_call(function);
    if (of_call) {
        std::get<2>(key) = caller.function;
        std::get<3>(key) = caller.node;
    }
    const auto [at, is_new] = specialised_.try_emplace(std::move(key));
    constexpr int kMost = 100;  // more are without end: each call has arguments of another type
    if (is_new && ++instances_[&function] > kMost && !of_call)
        throw CompileError(render({&function, 0},
                                  "'" + function.name + "' is called with ever other types of arguments", {},
                                  "Call it with arguments of the same types each time."));
    if (entry_ == nullptr) {
        entry_ = &at->second;
        if (options_.is_kernel) launch_ = &function;
    }
    if (is_new)
        at->second.name = name_in_ir(function.name) +
                          (specialised_.size() > 1 ? "." + std::to_string(specialised_.size()) : "");
    return at->second;
}

TypeRef Compilation::result_of(const FunctionSource& function, std::span<const TypeRef> arguments,
                               const Spot& caller) {
    Specialised& entry = this->entry(function, arguments, caller);
    if (entry.state == Specialised::State::kTyping) {
        provisional_ = true;
        const auto at = std::find(typing_.begin(), typing_.end(), &entry);
        lowest_asked_ = std::min(lowest_asked_, static_cast<size_t>(at - typing_.begin()));
        return entry.result == nullptr ? simple_type(TypeKind::kNever) : entry.result;
    }
    if (entry.state != Specialised::State::kNew) return entry.result;
    const bool before = std::exchange(provisional_, false);
    entry.state = Specialised::State::kTyping;
    const size_t lowest_before = std::exchange(lowest_asked_, SIZE_MAX);
    const bool fast_before = std::exchange(fast_, is_fast(function));
    typing_.push_back(&entry);
    FunctionLowering(*this, function, arguments, entry, caller).find_result();
    typing_.pop_back();
    fast_ = fast_before;
    if (lowest_asked_ >= typing_.size()) lowest_asked_ = SIZE_MAX;  // itself alone
    lowest_asked_ = std::min(lowest_asked_, lowest_before);
    // What hangs on a function that is still being typed is found again when that is done.
    entry.state = provisional_ ? Specialised::State::kNew : Specialised::State::kTyped;
    TypeRef result = entry.result == nullptr ? simple_type(TypeKind::kNever) : entry.result;
    if (provisional_) entry.result = nullptr;
    provisional_ |= before;
    return result;
}

const Specialised& Compilation::specialise(const FunctionSource& function, std::span<const TypeRef> arguments,
                                           const Spot& caller) {
    Specialised& entry = this->entry(function, arguments, caller);
    if (entry.state == Specialised::State::kLowering || entry.state == Specialised::State::kDone)
        return entry;
    entry.state = Specialised::State::kTyping;
    const bool before = std::exchange(provisional_, false);
    const bool fast_before = std::exchange(fast_, is_fast(function));
    typing_.push_back(&entry);
    FunctionLowering lowering(*this, function, arguments, entry, caller);
    lowering.find_result();
    typing_.pop_back();
    lowest_asked_ = SIZE_MAX;
    provisional_ = before;
    entry.state = Specialised::State::kLowering;
    add_function(lowering.run());
    fast_ = fast_before;
    entry.state = Specialised::State::kDone;
    return entry;
}

bool Compilation::is_fast(const FunctionSource& function) const {
    for (const FunctionSource* each = &function; each != nullptr; each = each->outer) {
        if (each->fast_math) return *each->fast_math;
    }
    return fast_;
}

void Compilation::add_function(ir::Function function) {
    if (fast_) mark_sums(function.body, function);
    module_.functions.push_back(std::move(function));
}

// Of the launch itself no line is the program's.
uint32_t Compilation::line_of(const Spot& spot) {
    if (spot.function == nullptr || spot.function == launch_) return 0;
    ir::SourceLine line{spot.function->file, spot.function->tree.place(spot.node).line};
    if (line.line <= 0) return 0;
    const auto [at, is_new] = lines_.try_emplace(line, static_cast<uint32_t>(lines_.size() + 1));
    if (is_new) module_.lines.push_back(std::move(line));
    return at->second;
}

Lowered Compilation::finish(const Specialised& entry, std::span<const TypeRef> arguments) {
    if (!shared_.empty()) share_outside_of_loops(entry.name);
    Lowered result;
    result.module = std::move(module_);
    result.entry = entry.name;
    result.result = entry.result;
    result.sites = std::move(sites_);
    result.indices = std::move(indices_);
    result.loops = std::move(loops_);
    result.parallel = std::move(parallel_);
    const std::function<bool(TypeRef)> is_written = [&](TypeRef type) {
        return (is_strided(type) && entry.written.contains(type->scope)) ||
               (is_list(type) && entry.written_lists.contains(type->list)) ||
               std::any_of(type->parts.begin(), type->parts.end(), is_written);
    };
    for (TypeRef type : arguments) result.written.push_back(is_written(type));
    result.arguments.assign(arguments.begin(), arguments.end());
    result.block_bytes = kernel_memory_.bytes_of(PlaceArgument::kBlockMemory);
    result.thread_bytes = kernel_memory_.bytes_of(PlaceArgument::kOwnMemory);
    result.written.resize(arguments.size() + globals_.size());  // those are only read
    return result;
}

}  // namespace weft::lang
