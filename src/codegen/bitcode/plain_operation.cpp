#include "codegen/bitcode/plain_operation.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>

namespace weft::codegen {

namespace {

// The part of an operand or result that a load or store in the operation concerns.
const OperationPart* find_part(std::span<const OperationPart> parts, const llvm::Value* pointer,
                               llvm::Type* type, const llvm::DataLayout& layout) {
    int64_t offset = 0;
    const auto* argument =
        llvm::dyn_cast<llvm::Argument>(llvm::GetPointerBaseWithConstantOffset(pointer, offset, layout));
    if (argument == nullptr) return nullptr;
    const auto found = std::find_if(parts.begin(), parts.end(), [&](const OperationPart& part) {
        return part.argument == argument->getArgNo() && part.offset == offset && part.type == type;
    });
    return found == parts.end() ? nullptr : &*found;
}

class Copy {
public:
    Copy(llvm::IRBuilder<>& builder, const llvm::Function& source, std::span<const OperationPart> operands,
         std::span<const OperationPart> results)
        : builder_(builder),
          block_(source.getEntryBlock()),
          layout_(source.getParent()->getDataLayout()),
          operands_(operands),
          results_(results) {}

    bool is_plain() {
        size_t stores = 0;
        for (const llvm::Instruction& instruction : block_) {
            if (llvm::isa<llvm::ReturnInst>(instruction)) continue;
            if (llvm::isa<llvm::GetElementPtrInst>(instruction)) continue;  // as an operand it is not known
            if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
                if (stores > 0 || !load->isSimple() || part_of(*load) == nullptr) return false;
            } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
                ++stores;
                if (!store->isSimple() || part_of(*store) == nullptr || !is_known(store->getValueOperand()))
                    return false;
                written_.insert(part_of(*store));
            } else if (!is_copied(instruction)) {
                return false;
            }
            known_.insert(&instruction);
        }
        return written_.size() == results_.size() && stores == results_.size();
    }

    std::vector<llvm::Value*> run() {
        std::vector<llvm::Value*> values(results_.size());
        for (const llvm::Instruction& instruction : block_) {
            if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
                map_[load] = part_of(*load)->value;
            } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
                values[static_cast<size_t>(part_of(*store) - results_.data())] =
                    mapped(store->getValueOperand());
            } else if (is_copied(instruction)) {
                map_[&instruction] = copy(instruction);
            }
        }
        return values;
    }

private:
    const OperationPart* part_of(const llvm::LoadInst& load) const {
        return find_part(operands_, load.getPointerOperand(), load.getType(), layout_);
    }
    const OperationPart* part_of(const llvm::StoreInst& store) const {
        return find_part(results_, store.getPointerOperand(), store.getValueOperand()->getType(), layout_);
    }

    bool is_known(const llvm::Value* value) const {
        if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value))
            return llvm::isa<llvm::ConstantData>(constant);
        return known_.contains(value) && !llvm::isa<llvm::GetElementPtrInst>(value);
    }

    bool is_copied(const llvm::Instruction& instruction) const {
        if (instruction.isTerminator() || instruction.mayReadOrWriteMemory() ||
            llvm::isa<llvm::AllocaInst, llvm::GetElementPtrInst, llvm::PHINode>(instruction))
            return false;
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (call != nullptr && !llvm::isa<llvm::IntrinsicInst>(call)) return false;
        return std::all_of(instruction.op_begin(), instruction.op_end() - (call != nullptr ? 1 : 0),
                           [&](const llvm::Use& use) {
                               return is_known(use.get()) || llvm::isa<llvm::MetadataAsValue>(use);
                           });
    }

    // Constants are of the context, not of a module.
    llvm::Value* mapped(const llvm::Value* value) const {
        const auto found = map_.find(value);
        return found == map_.end() ? const_cast<llvm::Value*>(value) : found->second;
    }

    llvm::Value* copy(const llvm::Instruction& instruction) {
        llvm::Instruction* const copied = instruction.clone();
        for (llvm::Use& use : copied->operands()) use.set(mapped(use.get()));
        if (auto* const call = llvm::dyn_cast<llvm::CallBase>(copied)) {
            llvm::Module* const module = builder_.GetInsertBlock()->getModule();
            const llvm::Function* const intrinsic = call->getCalledFunction();
            const auto target = module->getOrInsertFunction(
                intrinsic->getName(), intrinsic->getFunctionType(), intrinsic->getAttributes());
            call->setCalledFunction(target);
        }
        return builder_.Insert(copied);
    }

    llvm::IRBuilder<>& builder_;
    const llvm::BasicBlock& block_;
    const llvm::DataLayout& layout_;
    std::span<const OperationPart> operands_, results_;
    llvm::SmallPtrSet<const llvm::Value*, 16> known_;
    llvm::SmallPtrSet<const OperationPart*, 4> written_;
    llvm::DenseMap<const llvm::Value*, llvm::Value*> map_;
};

}  // namespace

std::optional<std::vector<llvm::Value*>> append_plain_operation(llvm::IRBuilder<>& builder,
                                                                const llvm::Function& source,
                                                                std::span<const OperationPart> operands,
                                                                std::span<const OperationPart> results) {
    if (source.size() != 1) return std::nullopt;
    Copy copy(builder, source, operands, results);
    if (!copy.is_plain()) return std::nullopt;
    return copy.run();
}

}  // namespace weft::codegen
