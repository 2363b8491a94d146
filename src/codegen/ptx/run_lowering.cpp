#include "codegen/ptx/run_lowering.h"

#include <algorithm>
#include <cstring>

namespace weft::codegen {

using ir::AddressSpace;
using ir::BufferType;
using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

namespace {

constexpr int64_t kMostLanesOfChain = 4;
constexpr int64_t kLanesOfDear = 4;
// Of what draws by steps: the first word is as dear as five more. More where little else is computed.
constexpr int64_t kLanesOfDraws = 8;
constexpr int64_t kLanesOfPlainDraws = 16;
constexpr int kPlainCost = 24;
constexpr int64_t kWordBytes = 4;
constexpr int64_t kSmallBytes = 2;  // of elements that are dear to read one by one

std::span<const ValueId> indices_of(const Instruction& instruction, const BufferType& type) {
    const size_t first = instruction.opcode == Opcode::kLoad ? 1 : 2;
    return {instruction.operands.data() + first, type.strides.size()};
}

}  // namespace

// --- which accesses run -----------------------------------------------------------------------------

bool PtxRunLowering::has_chains(const Region& region) {
    return std::any_of(region.body.begin(), region.body.end(), is_chain);
}

void PtxRunLowering::find_runs(const Region& region) {
    lanes_ = 1;
    distance_ = 1;
    if (options_.unaligned) return;
    const ValueId along = along_value_ = region.arguments[along_];
    std::set<uint32_t> varying{along.index};
    if (!can_be_lanes(region, varying, true)) return;
    find_steps(region);
    find_accesses(region, along, varying);
    if (largest_ == 0) return;
    lanes_ = std::max(kAccessBytes / largest_, std::min<int64_t>(4, kAccessBytes / smallest_));
    // A fifth and more of elementary functions of float64 is fetching constants, which lanes share.
    if (is_dear_float64(region)) lanes_ = std::max<int64_t>(lanes_, kLanesOfDear);
    if (has_chains(region)) lanes_ = std::min<int64_t>(lanes_, kMostLanesOfChain);
    if (is_followed()) return;
    find_draws(region, along);
    if (!draws_by_steps()) return;
    lanes_ = cost_of(region) <= kPlainCost ? kLanesOfPlainDraws : kLanesOfDraws;
    distance_ = kDrawnApart;
}

// `varying` gets what differs between neighbours. A chain is as long for all of them.
bool PtxRunLowering::can_be_lanes(const Region& region, std::set<uint32_t>& varying, bool chains) {
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kAllocate || instruction.opcode == Opcode::kAtomic ||
            instruction.opcode == Opcode::kCompareExchange)
            return false;
        bool varies = std::any_of(instruction.operands.begin(), instruction.operands.end(),
                                  [&](ValueId operand) { return varying.contains(operand.index); });
        if (!instruction.regions.empty()) {
            if (!chains || !is_chain(instruction) || varying.contains(instruction.operands[0].index))
                return false;
            for (const ValueId argument : instruction.regions[1].arguments) varying.insert(argument.index);
            for (const Region& inner : instruction.regions) {
                if (!can_be_lanes(inner, varying, false)) return false;
            }
            varies = true;
        }
        if (!varies) continue;
        for (const ValueId result : instruction.results) varying.insert(result.index);
    }
    return true;
}

void PtxRunLowering::find_accesses(const Region& region, ValueId along, const std::set<uint32_t>& varying) {
    for (const Instruction& instruction : region.body) {
        for (const Region& inner : instruction.regions) find_accesses(inner, along, varying);
        if (!is_run(instruction, along, varying)) continue;
        const ValueId id = instruction.operands[0];
        const int64_t itemsize = DType(kernel_.type(id).buffer.element).itemsize();
        largest_ = std::max(largest_, itemsize);
        smallest_ = std::min(smallest_, itemsize);
        run_buffers_.insert(id.index);
        run_accesses_.insert(&instruction);
        const Place place = place_of(instruction);
        if (instruction.opcode == Opcode::kLoad) row_reads_[place.row()].insert(place.steps);
    }
}

// Whether neighbours are neighbours in memory, all other indices being the same.
bool PtxRunLowering::is_run(const Instruction& instruction, ValueId along,
                            const std::set<uint32_t>& varying) const {
    if (instruction.predicated ||
        (instruction.opcode != Opcode::kLoad && instruction.opcode != Opcode::kStore))
        return false;
    const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
    if (type.space != AddressSpace::kGlobal) return false;
    const std::vector<ValueId> indices = place_of(instruction).indices;
    const auto found = std::find(indices.begin(), indices.end(), along);
    if (found == indices.end()) return false;
    const auto run = static_cast<size_t>(found - indices.begin());
    if (type.strides[run] != DType(type.element).itemsize()) return false;
    for (size_t d = 0; d < indices.size(); ++d) {
        if (d != run && varying.contains(indices[d].index)) return false;
    }
    return true;
}

// Only small elements are read a constant further (execution/kernels/kernel_arguments.h).
void PtxRunLowering::find_steps(const Region& region) {
    const ValueId along = region.arguments[along_];
    std::map<uint32_t, int64_t> constants;
    const auto collect = [&](const Region& from) {
        for (const Instruction& instruction : from.body) {
            if (instruction.opcode != Opcode::kConstant || instruction.constant.type != ScalarType::kInt64)
                continue;
            int64_t value = 0;
            std::memcpy(&value, instruction.constant.bytes.data(), sizeof value);
            constants.emplace(instruction.results[0].index, value);
        }
    };
    collect(kernel_.body);
    collect(region);
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode != Opcode::kApply || instruction.op->id != OpId::kAdd) continue;
        for (const size_t k : {0U, 1U}) {
            const auto constant = constants.find(instruction.operands[1 - k].index);
            if (instruction.operands[k] == along && constant != constants.end())
                steps_.emplace(instruction.results[0].index, constant->second);
        }
    }
}

PtxRunLowering::Row PtxRunLowering::Place::row() const {
    Row row{buffer, {}};
    for (const ValueId index : indices) row.second.push_back(index.index);
    return row;
}

PtxRunLowering::Place PtxRunLowering::place_of(const Instruction& instruction) const {
    const ValueId id = instruction.operands[0];
    const BufferType& type = kernel_.type(id).buffer;
    const std::span<const ValueId> indices = indices_of(instruction, type);
    Place place{id.index, {indices.begin(), indices.end()}, 0};
    for (size_t d = 0; d < indices.size(); ++d) {
        const auto found = steps_.find(indices[d].index);
        if (found == steps_.end() || type.strides[d] != DType(type.element).itemsize()) continue;
        place.indices[d] = along_value_;
        place.steps += found->second;
    }
    return place;
}

// Whether a run may be read from any address: elements are small, and where a row begins is known before
// anything of it is computed.
bool PtxRunLowering::reaches_any_address(const Region& region) {
    if (can_reach_any_address(region)) return true;
    std::erase_if(run_accesses_, [&](const Instruction* access) { return place_of(*access).steps != 0; });
    return false;
}

bool PtxRunLowering::can_reach_any_address(const Region& region) const {
    if (lanes_ == 1 || largest_ > kSmallBytes || has_chains(region)) return false;
    std::set<uint32_t> computed;
    for (const Instruction& instruction : region.body) {
        if (accesses_run(instruction)) {
            for (const ValueId index : place_of(instruction).indices) {
                if (computed.contains(index.index)) return false;
            }
        }
        for (const ValueId result : instruction.results) computed.insert(result.index);
    }
    return true;
}

// --- alignment --------------------------------------------------------------------------------------

llvm::Value* PtxRunLowering::runs_are_aligned() {
    llvm::Value* aligned = builder_.getTrue();
    for (const uint32_t buffer : run_buffers_)
        aligned = builder_.CreateAnd(aligned, is_aligned(buffers_.at(buffer)));
    return aligned;
}

// Whether every run of the buffer begins where a vector may. One stride of an element is the run's own; a
// view that overlaps itself (sliding windows) has more of them.
llvm::Value* PtxRunLowering::is_aligned(const BufferValue& buffer) {
    llvm::Value* bits = builder_.CreatePtrToInt(buffer.base, builder_.getInt64Ty());
    const auto itemsize = static_cast<uint64_t>(DType(buffer.type.element).itemsize());
    bool passed_run = false;
    for (llvm::Value* stride : buffer.strides) {
        const auto* known = llvm::dyn_cast<llvm::ConstantInt>(stride);
        if (!passed_run && known != nullptr && known->getZExtValue() == itemsize) {
            passed_run = true;
        } else {
            bits = builder_.CreateOr(bits, stride);
        }
    }
    const auto mask = static_cast<uint64_t>(access_bytes(buffer.type.element) - 1);
    return builder_.CreateICmpEQ(builder_.CreateAnd(bits, mask), builder_.getInt64(0));
}

PtxRunLowering::RowStart PtxRunLowering::start_of_row(const Region& region) {
    RowStart start{index_constant(0), builder_.getTrue(), builder_.getTrue()};
    scalars_[region.arguments[along_].index].parts[0] = builder_.getInt64(0);
    bool found = false;
    for (const bool writes : {true, false}) {
        for (const Instruction& instruction : region.body) {
            if (!accesses_run(instruction) || writes != (instruction.opcode == Opcode::kStore)) continue;
            const BufferValue& run = buffer(instruction.operands[0]);
            const Place place = place_of(instruction);
            if (!writes && row_reads_.at(place.row()).size() > 1) {
                start.reads_aligned = builder_.getFalse();
                continue;
            }
            llvm::Value* bits = builder_.CreatePtrToInt(address_of(place), index_type());
            const int64_t itemsize = DType(run.type.element).itemsize();
            llvm::Value* mask = index_constant(access_bytes(run.type.element) - 1);
            if (writes && !found) {
                start.shift =
                    builder_.CreateUDiv(builder_.CreateAnd(bits, mask), index_constant(itemsize), "shift");
                found = true;
                continue;
            }
            bits = builder_.CreateSub(bits, builder_.CreateMul(start.shift, index_constant(itemsize)));
            llvm::Value* aligned = builder_.CreateICmpEQ(builder_.CreateAnd(bits, mask), index_constant(0));
            llvm::Value*& all = writes ? start.writes_aligned : start.reads_aligned;
            all = builder_.CreateAnd(all, aligned);
        }
    }
    return start;
}

// --- words ------------------------------------------------------------------------------------------

PtxRunLowering::Layout PtxRunLowering::layout_of(ScalarType type) {
    const int64_t part = part_size(type), bytes = lanes_ * DType(type).itemsize();
    const int64_t access = std::min(bytes, kAccessBytes);
    Layout layout;
    // Small parts travel in words of up to four bytes, from which shifts take them: vectors of them would
    // go through memory.
    layout.word_bytes = std::max(part, std::min<int64_t>(access, kWordBytes));
    layout.word = part >= kWordBytes ? part_type(type)
                                     : builder_.getIntNTy(static_cast<unsigned>(8 * layout.word_bytes));
    layout.words = access / layout.word_bytes;
    layout.accesses = bytes / access;
    layout.parts_per_word = layout.word_bytes / part;
    return layout;
}

llvm::Type* PtxRunLowering::access_type(const Layout& layout) {
    return layout.words == 1 ? layout.word
                             : llvm::FixedVectorType::get(layout.word, static_cast<unsigned>(layout.words));
}

llvm::Value* PtxRunLowering::address_of(const Place& place) {
    const BufferValue& run = buffers_.at(place.buffer);
    llvm::Value* pointer = address(run, place.indices);
    if (place.steps == 0) return pointer;
    return builder_.CreateConstGEP1_64(
        builder_.getInt8Ty(), pointer,
        static_cast<uint64_t>(place.steps * DType(run.type.element).itemsize()));
}

llvm::Value* PtxRunLowering::run_address(const Instruction& instruction, Lanes& lanes) {
    scalars_.swap(lanes[0]);
    llvm::Value* pointer = address_of(place_of(instruction));
    scalars_.swap(lanes[0]);
    return pointer;
}

llvm::Value* PtxRunLowering::access_pointer(llvm::Value* run, const Layout& layout, int64_t access) {
    return builder_.CreateConstInBoundsGEP1_64(
        builder_.getInt8Ty(), run, static_cast<uint64_t>(access * layout.words * layout.word_bytes));
}

std::vector<llvm::Value*> PtxRunLowering::read_words(llvm::Value* pointer, const Layout& layout,
                                                     int64_t access, const BufferType& type) {
    llvm::LoadInst* load = builder_.CreateAlignedLoad(
        access_type(layout), access_pointer(pointer, layout, access), access_alignment(layout));
    annotate_load(load, type);
    if (layout.words == 1) return {load};
    std::vector<llvm::Value*> words;
    for (int64_t w = 0; w < layout.words; ++w)
        words.push_back(builder_.CreateExtractElement(load, static_cast<uint64_t>(w)));
    return words;
}

// So many bytes from any address on: the aligned accesses that hold them. None leaves what is mapped, since
// each holds a byte that is there. What else they hold is dropped.
std::vector<llvm::Value*> PtxRunLowering::read_shifted(llvm::Value* pointer, const Layout& layout,
                                                       const BufferType& type, int64_t bytes) {
    const int64_t access = layout.words * layout.word_bytes;
    const auto holding = [&](int64_t byte) {
        llvm::Value* at =
            builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pointer, static_cast<uint64_t>(byte));
        return builder_.CreateIntrinsic(llvm::Intrinsic::ptrmask, {at->getType(), builder_.getInt64Ty()},
                                        {at, builder_.getInt64(static_cast<uint64_t>(-access))});
    };
    // The last is the one that holds the last byte, wherever the first one begins.
    const int64_t accesses = (bytes + 2 * access - 2) / access;
    std::vector<llvm::Value*> words;
    for (int64_t k = 0; k < accesses; ++k) {
        const std::vector<llvm::Value*> some =
            read_words(holding(std::min(k * access, bytes - 1)), layout, 0, type);
        words.insert(words.end(), some.begin(), some.end());
    }
    const auto wanted = static_cast<size_t>((bytes + kWordBytes - 1) / kWordBytes);
    llvm::Value* start = builder_.CreatePtrToInt(pointer, builder_.getInt32Ty());
    // By whole words, from the most to one.
    for (int64_t step = layout.words / 2; step > 0; step /= 2) {
        llvm::Value* bit =
            builder_.CreateAnd(start, builder_.getInt32(static_cast<uint32_t>(step * kWordBytes)));
        llvm::Value* moves = builder_.CreateICmpNE(bit, builder_.getInt32(0));
        const size_t left = wanted + static_cast<size_t>(step);
        for (size_t w = 0; w < left; ++w) {
            // Beyond the last word is nothing that is wanted.
            llvm::Value* next = words[std::min(w + static_cast<size_t>(step), words.size() - 1)];
            words[w] = builder_.CreateSelect(moves, next, words[w]);
        }
        words.resize(left);
    }
    return move_words(words,
                      builder_.CreateShl(builder_.CreateAnd(start, builder_.getInt32(kWordBytes - 1)), 3));
}

// Words that begin so many bits further on, below 32; one less. One instruction takes a word out of two.
std::vector<llvm::Value*> PtxRunLowering::move_words(std::span<llvm::Value* const> words, llvm::Value* bits) {
    llvm::Value* distance = builder_.CreateZExt(bits, builder_.getInt64Ty());
    std::vector<llvm::Value*> moved;
    for (size_t w = 0; w + 1 < words.size(); ++w) {
        llvm::Value* low = builder_.CreateZExt(words[w], builder_.getInt64Ty());
        llvm::Value* high =
            builder_.CreateShl(builder_.CreateZExt(words[w + 1], builder_.getInt64Ty()), 8 * kWordBytes);
        moved.push_back(builder_.CreateTrunc(builder_.CreateLShr(builder_.CreateOr(high, low), distance),
                                             builder_.getInt32Ty()));
    }
    return moved;
}

// --- views of one array -----------------------------------------------------------------------------

bool PtxRunLowering::is_shared(const Place& place, const BufferType& type) const {
    return unwritten_.contains(type.alias_scope) && row_reads_.at(place.row()).size() > 1;
}

// The words of a view, or of what begins so many bytes further on.
const std::vector<llvm::Value*>& PtxRunLowering::read_shared(const Place& place, const Layout& layout,
                                                             const BufferType& type, Lanes& lanes,
                                                             int64_t further) {
    const Row row = place.row();
    const std::set<int64_t>& steps = row_reads_.at(row);
    const int64_t itemsize = DType(type.element).itemsize(), run = layout.words * layout.word_bytes;
    SharedRead& shared = shared_reads_[row];
    if (shared.words.empty()) {
        Place first = place;
        first.steps = *steps.begin();
        scalars_.swap(lanes[0]);
        llvm::Value* pointer = address_of(first);
        scalars_.swap(lanes[0]);
        shared.words =
            read_shifted(pointer, layout, type, run + (*steps.rbegin() - *steps.begin()) * itemsize);
    }
    const int64_t bytes = (place.steps - *steps.begin()) * itemsize + further;
    std::vector<llvm::Value*>& moved = shared.moved[bytes];
    if (!moved.empty()) return moved;
    const auto from = static_cast<size_t>(bytes / kWordBytes);
    std::vector<llvm::Value*> words;
    for (size_t w = 0; w <= static_cast<size_t>(layout.words); ++w)
        words.push_back(shared.words[std::min(from + w, shared.words.size() - 1)]);
    if (bytes % kWordBytes == 0) {
        words.pop_back();
        moved = std::move(words);
    } else {
        moved = move_words(words, builder_.getInt32(static_cast<uint32_t>(8 * (bytes % kWordBytes))));
    }
    return moved;
}

void PtxRunLowering::load_run(const Instruction& instruction, Lanes& lanes, Reach reach) {
    const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
    const Layout layout = layout_of(type.element);
    const Place place = place_of(instruction);
    const bool shared = reach == Reach::kShifted && is_shared(place, type);
    llvm::Value* pointer = shared ? nullptr : run_address(instruction, lanes);
    const auto parts = static_cast<size_t>(part_count(type.element));
    const ValueId result = instruction.results[0];
    size_t at = 0;  // part of the run
    for (int64_t access = 0; access < layout.accesses; ++access) {
        const std::vector<llvm::Value*> words =
            shared                     ? read_shared(place, layout, type, lanes, 0)
            : reach == Reach::kShifted ? read_shifted(pointer, layout, type, access_bytes(type.element))
                                       : read_words(pointer, layout, access, type);
        if (packed_.active() && PackedRuns::can_hold(type.element)) {
            // The next byte's view, if that is read as well.
            const bool next = shared && largest_ == 1 && row_reads_.at(place.row()).contains(place.steps + 1);
            packed_.read(result, words,
                         next ? read_shared(place, layout, type, lanes, 1) : std::vector<llvm::Value*>());
            return;
        }
        for (llvm::Value* word : words) {
            for (int64_t p = 0; p < layout.parts_per_word; ++p, ++at) {
                lanes[at / parts][result.index].parts[at % parts] =
                    part_of_word(word, layout, p, type.element);
            }
        }
    }
}

llvm::Value* PtxRunLowering::part_of_word(llvm::Value* word, const Layout& layout, int64_t part,
                                          ScalarType type) {
    if (part_size(type) >= kWordBytes) return word;
    const auto bits = static_cast<unsigned>(8 * part_size(type));
    if (layout.parts_per_word > 1) word = builder_.CreateLShr(word, static_cast<uint64_t>(part) * bits);
    word = builder_.CreateTrunc(word, builder_.getIntNTy(bits));
    return builder_.CreateBitCast(word, part_type(type));
}

void PtxRunLowering::store_run(const Instruction& instruction, Lanes& lanes) {
    const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
    const Layout layout = layout_of(type.element);
    llvm::Value* pointer = run_address(instruction, lanes);
    const ValueId value = instruction.operands[1];
    std::vector<llvm::Value*> packed;
    if (packed_.active() && packed_.holds(value)) packed = packed_.words(value);
    const auto parts = static_cast<size_t>(part_count(type.element));
    size_t at = 0;
    for (int64_t access = 0; access < layout.accesses; ++access) {
        llvm::Value* all = llvm::PoisonValue::get(access_type(layout));
        for (int64_t w = 0; w < layout.words; ++w) {
            llvm::Value* word = packed.empty() ? nullptr : packed[static_cast<size_t>(w)];
            for (int64_t p = 0; packed.empty() && p < layout.parts_per_word; ++p, ++at) {
                llvm::Value* part = lanes[at / parts][value.index].parts[at % parts];
                word = put_part(word, part, layout, p, type.element);
            }
            all =
                layout.words == 1 ? word : builder_.CreateInsertElement(all, word, static_cast<uint64_t>(w));
        }
        llvm::StoreInst* store = builder_.CreateAlignedStore(all, access_pointer(pointer, layout, access),
                                                             access_alignment(layout));
        set_alias_scope(store, type);
    }
}

llvm::Value* PtxRunLowering::put_part(llvm::Value* word, llvm::Value* part, const Layout& layout,
                                      int64_t number, ScalarType type) {
    if (part_size(type) >= kWordBytes) return part;
    const auto bits = static_cast<unsigned>(8 * part_size(type));
    part = builder_.CreateZExt(builder_.CreateBitCast(part, builder_.getIntNTy(bits)), layout.word);
    if (word == nullptr) return part;
    return builder_.CreateOr(word, builder_.CreateShl(part, static_cast<uint64_t>(number) * bits));
}

// The first point's address is computed, the others' are constants from there.
void PtxRunLowering::access_spread(const Instruction& instruction, Lanes& lanes) {
    const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
    const int64_t bytes = distance_ * DType(type.element).itemsize();
    llvm::Value* first = run_address(instruction, lanes);
    for (size_t k = 0; k < lanes.size(); ++k) {
        llvm::Value* pointer = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), first,
                                                                   k * static_cast<uint64_t>(bytes));
        if (instruction.opcode == Opcode::kLoad) {
            lanes[k][instruction.results[0].index] = load_at(pointer, type);
        } else {
            store_at(pointer, lanes[k][instruction.operands[1].index], type);
        }
    }
}

// --- pairs ------------------------------------------------------------------------------------------

void PtxRunLowering::begin_small() {
    shared_reads_.clear();
    constexpr int kAddsPairs = 90;  // the first compute capability that does
    if (image_.sm >= kAddsPairs) packed_.begin(lanes_, smallest_ == 1);
}

bool PtxRunLowering::compute_packed(const Instruction& instruction, const Lanes& lanes) {
    if (!packed_.active() || !packed_.can_compute(instruction)) return false;
    std::vector<llvm::Value*> uniform;
    for (const ValueId operand : instruction.operands) {
        llvm::Value* first = packed_.holds(operand) ? nullptr : lanes[0][operand.index].parts[0];
        const bool same = std::all_of(lanes.begin(), lanes.end(), [&](const std::vector<Scalar>& lane) {
            return lane[operand.index].parts[0] == first;
        });
        if (!packed_.holds(operand) && (first == nullptr || !same)) return false;
        uniform.push_back(first);
    }
    packed_.compute(instruction, uniform);
    return true;
}

void PtxRunLowering::unpack_operands(const Instruction& instruction, Lanes& lanes) {
    if (!packed_.active()) return;
    for (const ValueId operand : instruction.operands) {
        if (!packed_.holds(operand) || lanes[0][operand.index].parts[0] != nullptr) continue;
        for (size_t k = 0; k < lanes.size(); ++k)
            lanes[k][operand.index].parts[0] = packed_.element(operand, static_cast<int64_t>(k));
    }
}

}  // namespace weft::codegen
