#include "passes/calls/local_memory.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/thread_memory.h"
#include "passes/conditions_at_ends.h"
#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

constexpr int64_t kMostBytes = 16 << 10;  // of one that becomes local
constexpr int64_t kMostOfAll = 64 << 10;

bool has_call(const Region& region) {
    return std::ranges::any_of(region.body, [](const Instruction& each) {
        return each.opcode == Opcode::kCall || std::ranges::any_of(each.regions, has_call);
    });
}

class LocalMemory {
public:
    explicit LocalMemory(Function& function)
        : function_(function),
          constants_(find_constants(function)),
          next_scope_(unused_alias_scope(function)) {}

    void run() {
        note(function_.body);
        if (blocks_.empty()) return;
        // A function that calls others may call itself, and is as deep as its stack allows.
        const bool is_deep = has_call(function_.body);
        int64_t all = 0;
        for (Block& block : blocks_) {
            block.is_local =
                !block.escapes && !is_deep && block.bytes <= kMostBytes && all + block.bytes <= kMostOfAll;
            if (block.is_local) all += block.bytes;
        }
        rewrite(function_.body);
    }

private:
    // What has been taken from the heap.
    struct Block {
        int64_t bytes = 0;
        bool is_own = false;  // a thread's, whose arrays are the views of it
        bool escapes = false, is_local = false;
        int releases = 0;                   // of its owner
        bool only_releases = true;          // nothing else becomes of that
        std::map<int64_t, size_t> roots{};  // by where they begin
    };
    // All of a block, or one of a thread's arrays: memory that overlaps no other root's.
    struct Root {
        std::optional<ScalarType> element{};
        bool is_mixed = false;  // it is read and written as elements of several types, or in unknown places
        ValueId local{};
        bool is_array() const { return element && !is_mixed; }
    };
    // A buffer in a block: a thread's memory as a whole has no root. A view is `offset` behind its base.
    struct Part {
        size_t block = 0;
        std::optional<size_t> root{};
        std::optional<ValueId> base{};
        ValueId offset{};
        std::optional<std::vector<int64_t>> strides{};
    };

    // --- what there is ------------------------------------------------------------------------------------

    void note(const Region& region) {
        for (const Instruction& each : region.body) {
            note(each);
            for (const Region& inner : each.regions) note(inner);
        }
    }

    void note(const Instruction& each) {
        for (size_t k = 0; k < each.operands.size(); ++k) {
            const uint32_t operand = each.operands[k].index;
            if (const auto owned = owners_.find(operand); owned != owners_.end()) {
                Block& block = blocks_[owned->second];
                const bool releases = each.opcode == Opcode::kRelease;
                block.releases += releases ? 1 : 0;
                block.only_releases &= releases;
                block.escapes |= !releases;
            }
            const auto part = parts_.find(operand);
            if (part == parts_.end()) continue;
            const bool is_access = each.opcode == Opcode::kLoad || each.opcode == Opcode::kStore;
            if (k == 0 && is_access && part->second.root) {
                note_access(part->second, function_.type(each.operands[0]).buffer.element);
            } else if (k != 0 || each.opcode != Opcode::kView) {
                blocks_[part->second.block].escapes = true;
            }
        }
        for (const ValueId result : each.results) sources_[result.index] = &each;
        if (each.opcode == Opcode::kHeap) note_heap(each);
        if (each.opcode == Opcode::kView) note_view(each);
    }

    void note_heap(const Instruction& heap) {
        const auto bytes = constants_.find(heap.operands[0].index);
        if (heap.grows || heap.owners.count > 0 || bytes == constants_.end() || bytes->second <= 0) return;
        const ValueId buffer = heap.results[1];
        Block block{.bytes = bytes->second};
        block.is_own = function_.type(buffer).buffer.alias_scope == kOwnMemoryScope;
        blocks_.push_back(std::move(block));
        owners_[heap.results[0].index] = blocks_.size() - 1;
        Part part{.block = blocks_.size() - 1};
        if (!blocks_.back().is_own) part.root = root_at(part.block, 0);
        part.strides = known_strides(buffer, std::span(heap.operands).subspan(1), {});
        parts_[buffer.index] = std::move(part);
    }

    void note_view(const Instruction& view) {
        const auto found = parts_.find(view.operands[0].index);
        if (found == parts_.end()) return;
        const Part& from = found->second;
        Part part{.block = from.block, .root = from.root};
        part.strides = known_strides(view.results[0], std::span(view.operands).subspan(2), from.strides);
        if (from.root) {
            part.base = view.operands[0];
            part.offset = view.operands[1];
        } else if (const auto place = constants_.find(view.operands[1].index); place != constants_.end()) {
            part.root = root_at(from.block, place->second);
        } else {
            blocks_[from.block].escapes = true;
            return;
        }
        parts_[view.results[0].index] = std::move(part);
    }

    // Of a heap's buffer or a view; `given` are those that are no part of its type.
    std::optional<std::vector<int64_t>> known_strides(
        ValueId buffer, std::span<const ValueId> given,
        const std::optional<std::vector<int64_t>>& of_base) const {
        std::vector<int64_t> strides = function_.type(buffer).buffer.strides;
        size_t next = 0;
        for (size_t d = 0; d < strides.size(); ++d) {
            if (strides[d] != kDynamic) continue;
            if (given.empty()) {
                if (!of_base || d >= of_base->size()) return std::nullopt;
                strides[d] = (*of_base)[d];
                continue;
            }
            const auto known = constants_.find(given[next++].index);
            if (known == constants_.end()) return std::nullopt;
            strides[d] = known->second;
        }
        return strides;
    }

    size_t root_at(size_t block, int64_t place) {
        const auto [found, is_new] = blocks_[block].roots.try_emplace(place, roots_.size());
        if (is_new) roots_.emplace_back();
        return found->second;
    }

    void note_access(const Part& part, ScalarType element) {
        Root& root = roots_[*part.root];
        const int64_t itemsize = DType(element).itemsize();
        bool fits = part.strides && std::ranges::all_of(*part.strides, [&](int64_t stride) {
                        return stride % itemsize == 0;
                    });
        for (const Part* at = &part; at->base; at = &parts_.at(at->base->index))
            fits = fits && is_multiple(at->offset, itemsize);
        root.is_mixed |= !fits || (root.element && *root.element != element);
        root.element = element;
    }

    // Whether it is a multiple of the size of elements, as the offset of a row or of a slice is. What was
    // asked before is known: values are made of the same values again and again.
    bool is_multiple(ValueId value, int64_t itemsize) {
        if (const auto known = constants_.find(value.index); known != constants_.end())
            return known->second % itemsize == 0;
        const std::pair asked(value.index, itemsize);
        if (const auto known = multiples_.find(asked); known != multiples_.end()) return known->second;
        return multiples_[asked] = is_made_of_multiples(value, itemsize);
    }

    bool is_made_of_multiples(ValueId value, int64_t itemsize) {
        const auto source = sources_.find(value.index);
        if (source == sources_.end() || source->second->opcode != Opcode::kApply) return false;
        const auto of = [&](size_t k) { return is_multiple(source->second->operands[k], itemsize); };
        switch (source->second->op->id) {
            case OpId::kMultiply: return of(0) || of(1);
            case OpId::kAdd:
            case OpId::kSubtract: return of(0) && of(1);
            default: return false;
        }
    }

    // --- what becomes of it -------------------------------------------------------------------------------

    void rewrite(Region& region) {
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        Builder builder(function_, region.body);
        for (Instruction& each : old) rewrite(builder, std::move(each));
    }

    void rewrite(Builder& builder, Instruction each) {
        switch (each.opcode) {
            case Opcode::kHeap:
                if (const Block* block = local_block(each.results[0])) return allocate(builder, each, *block);
                break;
            case Opcode::kRelease:
                if (local_block(each.operands[0]) != nullptr) return;
                break;
            case Opcode::kView:
                if (const Part* part = local_part(each.results[0]))
                    return rewrite_view(builder, std::move(each), *part);
                break;
            case Opcode::kLoad:
            case Opcode::kStore:
                if (const Part* part = local_part(each.operands[0]);
                    part != nullptr && roots_[*part->root].is_array())
                    return rewrite_access(builder, std::move(each), *part);
                break;
            default: break;
        }
        std::vector<Instruction> behind;
        if (each.opcode == Opcode::kFor && each.lanes > 1) behind = hoist(builder, each);
        for (Region& inner : each.regions) rewrite(inner);
        builder.append(std::move(each));
        for (Instruction& release : behind) builder.append(std::move(release));
    }

    const Block* local_block(ValueId owner) const {
        const auto found = owners_.find(owner.index);
        return found != owners_.end() && blocks_[found->second].is_local ? &blocks_[found->second] : nullptr;
    }
    // Of a buffer in memory that is local now.
    const Part* local_part(ValueId buffer) const {
        const auto found = parts_.find(buffer.index);
        return found != parts_.end() && blocks_[found->second.block].is_local ? &found->second : nullptr;
    }

    // An array for each root; bytes, of which there are views, where it is none.
    void allocate(Builder& builder, const Instruction& heap, const Block& block) {
        for (auto at = block.roots.begin(); at != block.roots.end(); ++at) {
            Root& root = roots_[at->second];
            const auto next = std::next(at);
            const int64_t bytes = (next == block.roots.end() ? block.bytes : next->first) - at->first;
            const ScalarType element = root.is_array() ? *root.element : ScalarType::kUInt8;
            const int64_t itemsize = DType(element).itemsize();
            BufferType type{.element = element, .space = AddressSpace::kLocal, .alias_scope = next_scope_++};
            type.strides = {itemsize};
            type.sizes = {std::max<int64_t>(bytes / itemsize, 1)};
            root.local = builder.allocate(type, "own");
            if (root.is_array() || block.is_own) continue;
            Instruction view{.opcode = Opcode::kView};
            view.operands = {root.local, builder.index(0)};
            view.operands.insert(view.operands.end(), heap.operands.begin() + 1, heap.operands.end());
            view.results = {heap.results[1]};
            make_local(heap.results[1], root);
            builder.append(std::move(view));
        }
    }

    void make_local(ValueId buffer, const Root& root) {
        const uint16_t scope = function_.type(root.local).buffer.alias_scope;
        BufferType& type = function_.values[buffer.index].type.buffer;
        type.space = AddressSpace::kLocal;
        type.alias_scope = scope;
    }

    void rewrite_view(Builder& builder, Instruction view, const Part& part) {
        const Root& root = roots_[*part.root];
        if (root.is_array()) return;  // accesses tell where they are themselves
        make_local(view.results[0], root);
        if (!part.base) {
            view.operands[0] = root.local;
            view.operands[1] = builder.index(0);
        }
        builder.append(std::move(view));
    }

    void rewrite_access(Builder& builder, Instruction access, const Part& part) {
        const Root& root = roots_[*part.root];
        const int64_t itemsize = DType(*root.element).itemsize();
        const size_t first = opcode_info(access.opcode).index, rank = part.strides->size();
        ValueId at = offset_of(builder, part, itemsize);
        for (size_t d = 0; d < rank; ++d) {
            const int64_t stride = (*part.strides)[d] / itemsize;
            ValueId index = access.operands[first + d];
            if (stride != 1) index = builder.apply(OpId::kMultiply, {index, builder.index(stride)});
            at = at.valid() ? builder.apply(OpId::kAdd, {at, index}) : index;
        }
        if (!at.valid()) at = builder.index(0);
        access.operands[0] = root.local;
        const auto begin = access.operands.begin() + static_cast<std::ptrdiff_t>(first);
        const auto rest = access.operands.erase(begin, begin + static_cast<std::ptrdiff_t>(rank));
        access.operands.insert(rest, at);
        builder.append(std::move(access));
    }

    // In elements behind where the root begins; invalid where it begins there.
    ValueId offset_of(Builder& builder, const Part& part, int64_t itemsize) {
        if (!part.base) return {};
        const ValueId before = offset_of(builder, parts_.at(part.base->index), itemsize);
        const auto bits = std::countr_zero(static_cast<uint64_t>(itemsize));
        const ValueId own = builder.apply(OpId::kRightShift, {part.offset, builder.index(bits)});
        return before.valid() ? builder.apply(OpId::kAdd, {before, own}) : own;
    }

    // What each iteration takes from the heap and gives back is taken once, for one iteration after another.
    // Gives what stands behind the loop.
    std::vector<Instruction> hoist(Builder& builder, Instruction& loop) {
        std::vector<Instruction>& body = loop.regions[0].body;
        std::vector<Instruction> behind;
        for (size_t i = 0; i < body.size(); ++i) {
            const auto number =
                body[i].opcode == Opcode::kHeap ? owners_.find(body[i].results[0].index) : owners_.end();
            if (number == owners_.end() || body[i].operands.size() != 1) continue;
            const Block& block = blocks_[number->second];
            if (block.is_local || !block.only_releases || block.releases != 1) continue;
            const auto release = std::ranges::find_if(body, [&](const Instruction& each) {
                return each.opcode == Opcode::kRelease && each.operands[0] == body[i].results[0];
            });
            if (release == body.end()) continue;
            behind.push_back(std::move(*release));
            body.erase(release);
            Instruction heap = std::move(body[i]);
            heap.operands[0] = builder.index(block.bytes);
            builder.append(std::move(heap));
            body.erase(body.begin() + static_cast<std::ptrdiff_t>(i--));
            loop.lanes = 1;
        }
        return behind;
    }

    Function& function_;
    const Constants constants_;
    uint16_t next_scope_;
    std::vector<Block> blocks_;
    std::vector<Root> roots_;
    std::unordered_map<uint32_t, Part> parts_;                  // by buffer
    std::unordered_map<uint32_t, size_t> owners_;               // their blocks
    std::unordered_map<uint32_t, const Instruction*> sources_;  // while what there is is noted
    std::map<std::pair<uint32_t, int64_t>, bool> multiples_;    // by value and size of elements
};

}  // namespace

void local_memory(const Module&, Function& function) {
    if (!function.is_kernel) LocalMemory(function).run();
}

}  // namespace weft::passes
