#include "codegen/cpu/copy_lowering.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

#include "codegen/llvm/transposition.h"
#include "codegen/runtime/nontemporal_copy.h"

namespace weft::codegen {

using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

namespace {

constexpr int64_t kMostFilled = 16384;  // bytes of constants

}  // namespace

void CopyLowering::lower(const Instruction& instruction) {
    if (instruction.opcode == Opcode::kFor &&
        (lower_transposition(instruction) || lower_streamed_copy(instruction) || lower_fill(instruction)))
        return;
    DrawLowering::lower(instruction);
}

std::optional<int64_t> CopyLowering::constant_of(ValueId value) const {
    if (kernel_.type(value).is_buffer) return std::nullopt;
    const auto* constant = llvm::dyn_cast_or_null<llvm::ConstantInt>(scalars_[value.index].parts[0]);
    if (constant == nullptr) return std::nullopt;
    return constant->getSExtValue();
}

int64_t CopyLowering::trip_count(const Instruction& loop) const {
    if (loop.operands.size() != 3 || constant_of(loop.operands[0]) != 0 || constant_of(loop.operands[2]) != 1)
        return 0;
    return std::max<int64_t>(constant_of(loop.operands[1]).value_or(0), 0);
}

bool CopyLowering::is_local(ValueId array) const {
    const ir::BufferType& type = kernel_.type(array).buffer;
    return type.space == ir::AddressSpace::kLocal && type.strides.size() == 1 &&
           type.strides[0] == DType(type.element).itemsize();
}

CopyLowering::Sum CopyLowering::sum_of(ValueId value, const std::map<uint32_t, Sum>& sums) const {
    const auto found = sums.find(value.index);
    return found != sums.end() ? found->second : Sum{0, 0, constant_of(value)};
}

bool CopyLowering::add_sum(const Instruction& instruction, std::map<uint32_t, Sum>& sums) const {
    if (instruction.results.size() != 1 || kernel_.type(instruction.results[0]).scalar != ScalarType::kInt64)
        return false;
    Sum& result = sums[instruction.results[0].index];
    if (instruction.opcode == Opcode::kConstant) {
        result = {0, 0, instruction.constant.as<int64_t>()};
        return true;
    }
    if (instruction.opcode != Opcode::kApply) return false;
    const std::string_view name = instruction.op->name;
    if (name != "add" && name != "multiply") return false;
    Sum left = sum_of(instruction.operands[0], sums);
    Sum right = sum_of(instruction.operands[1], sums);
    if (name == "add") {
        result = {left.of_outer + right.of_outer, left.of_inner + right.of_inner, std::nullopt};
        return true;
    }
    if (left.known) std::swap(left, right);
    if (!right.known)
        return left.of_outer == 0 && left.of_inner == 0 && right.of_outer == 0 && right.of_inner == 0;
    result = {left.of_outer * *right.known, left.of_inner * *right.known, std::nullopt};
    return true;
}

std::optional<CopyLowering::Copy> CopyLowering::find_copy(const Region& region,
                                                          std::map<uint32_t, Sum>& sums) const {
    Copy copy;
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kYield) continue;
        if (instruction.opcode == Opcode::kLoad) {
            if (copy.load != nullptr || instruction.predicated) return std::nullopt;
            copy.load = &instruction;
        } else if (instruction.opcode == Opcode::kStore) {
            if (copy.load == nullptr || copy.store != nullptr || instruction.predicated) return std::nullopt;
            copy.store = &instruction;
        } else if (!add_sum(instruction, sums)) {
            return std::nullopt;
        }
    }
    if (copy.store == nullptr || copy.store->operands[1] != copy.load->results[0] ||
        copy.load->operands[0] == copy.store->operands[0] || !is_local(copy.load->operands[0]))
        return std::nullopt;
    return copy;
}

// Positions of a loop's body, at the indices that were given to it.
void CopyLowering::lower_positions(const Region& region) {
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kConstant || instruction.opcode == Opcode::kApply)
            DrawLowering::lower(instruction);
    }
}

// for %i in R { for %j in C { to[.. + j * a + i] = from[.. + i * b + j] } }, or the other way round.
bool CopyLowering::lower_transposition(const Instruction& loop) {
    const int64_t outer = trip_count(loop);
    if (!is_transposed_by_shuffles(outer)) return false;
    const Region& region = loop.regions[0];
    std::map<uint32_t, Sum> sums{{region.arguments[0].index, {1, 0, std::nullopt}}};
    const Instruction* inner_loop = nullptr;
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kYield) continue;
        if (instruction.opcode == Opcode::kFor && inner_loop == nullptr) {
            inner_loop = &instruction;
        } else if (inner_loop != nullptr || !add_sum(instruction, sums)) {
            return false;
        }
    }
    // Its bounds may be constants of this loop's body, which are not lowered yet.
    if (inner_loop == nullptr || inner_loop->operands.size() != 3) return false;
    const auto known = [&](size_t operand) { return sum_of(inner_loop->operands[operand], sums).known; };
    const int64_t inner = known(0) == 0 && known(2) == 1 ? known(1).value_or(0) : 0;
    if (!is_transposed_by_shuffles(inner)) return false;
    const Region& body = inner_loop->regions[0];
    sums[body.arguments[0].index] = {0, 1, std::nullopt};
    const std::optional<Copy> copy = find_copy(body, sums);
    if (!copy || !is_local(copy->store->operands[0])) return false;
    const Sum from = sum_of(copy->load->operands[1], sums);
    const Sum to = sum_of(copy->store->operands[2], sums);
    Transposition transposition;
    const ScalarType type = kernel_.type(copy->load->results[0]).scalar;
    transposition.part = part_type(type);
    transposition.parts = part_count(type);
    if (from.of_inner == 1 && to.of_outer == 1) {
        transposition.rows = outer;
        transposition.columns = inner;
        transposition.from_stride = from.of_outer;
        transposition.to_stride = to.of_inner;
    } else if (from.of_outer == 1 && to.of_inner == 1) {
        transposition.rows = inner;
        transposition.columns = outer;
        transposition.from_stride = from.of_inner;
        transposition.to_stride = to.of_outer;
    } else {
        return false;
    }
    // Each element has a place of its own.
    if (transposition.to_stride < transposition.rows) return false;

    scalars_[region.arguments[0].index].parts[0] = builder_.getInt64(0);
    scalars_[body.arguments[0].index].parts[0] = builder_.getInt64(0);
    lower_positions(region);
    lower_positions(body);
    const auto first = [&](const Instruction& access, size_t indices) {
        return address(buffer(access.operands[0]), std::span(access.operands).subspan(indices, 1));
    };
    call_transpose(builder_, transposition, first(*copy->load, 1), first(*copy->store, 2));
    return true;
}

// for %k in .. { result[.., b + k] = local[k] }, of a result written by non-temporal stores.
bool CopyLowering::lower_streamed_copy(const Instruction& loop) {
    if (loop.operands.size() != 3 || constant_of(loop.operands[2]) != 1) return false;
    const Region& region = loop.regions[0];
    std::map<uint32_t, Sum> sums{{region.arguments[0].index, {1, 0, std::nullopt}}};
    const std::optional<Copy> copy = find_copy(region, sums);
    if (!copy) return false;
    const ir::BufferType& type = kernel_.type(copy->store->operands[0]).buffer;
    const std::span<const ValueId> indices = std::span(copy->store->operands).subspan(2);
    const int64_t itemsize = DType(type.element).itemsize();
    if (!type.streamed || type.space != ir::AddressSpace::kGlobal || indices.empty() ||
        type.strides.back() != itemsize || sum_of(copy->load->operands[1], sums).of_outer != 1 ||
        sum_of(indices.back(), sums).of_outer != 1)
        return false;
    const std::span<const ValueId> outer = indices.first(indices.size() - 1);
    if (std::any_of(outer.begin(), outer.end(),
                    [&](ValueId index) { return sum_of(index, sums).of_outer != 0; }))
        return false;

    llvm::Value* lower = index(loop.operands[0]);
    scalars_[region.arguments[0].index].parts[0] = lower;
    lower_positions(region);
    llvm::Value* count = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::smax, builder_.CreateNSWSub(index(loop.operands[1]), lower), builder_.getInt64(0));
    llvm::Value* from =
        address(buffer(copy->load->operands[0]), std::span(copy->load->operands).subspan(1, 1));
    llvm::Value* to = address(buffer(copy->store->operands[0]), indices);
    builder_.CreateCall(
        declare_copy_lines(module_),
        {to, from, builder_.CreateNSWMul(count, builder_.getInt64(static_cast<uint64_t>(itemsize)))});
    return true;
}

// for %k in .. { local[b + k] = constant }, of a number of elements that is not known: fewer may be
// accumulators, which belong in registers.
bool CopyLowering::lower_fill(const Instruction& loop) {
    if (loop.operands.size() != 3 || constant_of(loop.operands[2]) != 1 ||
        (constant_of(loop.operands[0]) && constant_of(loop.operands[1])))
        return false;
    const Region& region = loop.regions[0];
    std::map<uint32_t, Sum> sums{{region.arguments[0].index, {1, 0, std::nullopt}}};
    const Instruction* store = nullptr;
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kYield) continue;
        if (instruction.opcode == Opcode::kStore && store == nullptr && !instruction.predicated) {
            store = &instruction;
        } else if (!add_sum(instruction, sums)) {
            return false;
        }
    }
    if (store == nullptr || !is_local(store->operands[0]) || sum_of(store->operands[2], sums).of_outer != 1 ||
        sums.contains(store->operands[1].index))
        return false;
    const ir::BufferType& array = kernel_.type(store->operands[0]).buffer;
    const int64_t itemsize = DType(array.element).itemsize();
    if (array.sizes[0] * itemsize > kMostFilled) return false;
    const Scalar& value = scalar(store->operands[1]);
    std::vector<llvm::Constant*> parts;
    for (int part = 0; part < part_count(array.element); ++part) {
        auto* constant = llvm::dyn_cast<llvm::Constant>(value.parts[part]);
        if (constant == nullptr) return false;
        parts.push_back(constant);
    }
    std::vector<llvm::Constant*> elements;
    for (int64_t k = 0; k < array.sizes[0]; ++k) elements.insert(elements.end(), parts.begin(), parts.end());
    auto* type = llvm::ArrayType::get(parts[0]->getType(), elements.size());
    auto* constants =
        new llvm::GlobalVariable(module_, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                 llvm::ConstantArray::get(type, elements), "filled");
    constants->setAlignment(llvm::Align(kLineBytes));
    llvm::Value* lower = index(loop.operands[0]);
    scalars_[region.arguments[0].index].parts[0] = lower;
    lower_positions(region);
    llvm::Value* to = address(buffer(store->operands[0]), std::span(store->operands).subspan(2, 1));
    llvm::Value* count = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::smax, builder_.CreateNSWSub(index(loop.operands[1]), lower), builder_.getInt64(0));
    builder_.CreateMemCpy(to, llvm::Align(1), constants, llvm::Align(kLineBytes),
                          builder_.CreateNSWMul(count, builder_.getInt64(static_cast<uint64_t>(itemsize))));
    return true;
}

}  // namespace weft::codegen
