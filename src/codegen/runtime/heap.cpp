#include "codegen/runtime/heap.h"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace weft::codegen {

namespace {

constexpr std::align_val_t kAlignment{64};
constexpr int kKept = 8;
constexpr int64_t kKeptBytes = 1 << 20;  // of one block: more would be missed elsewhere

struct Block : HeapLink {
    int64_t users = 1;
    int64_t from = 0, stride = 0, count = 0;  // of the owners in it
    HeapMemory memory;
};

thread_local HeapFrame* current = nullptr;
thread_local std::exception_ptr stopped_without_frame;

Block* block_of(int64_t owner) { return reinterpret_cast<Block*>(owner); }

void unlink(HeapLink& link) {
    link.previous->next = link.next;
    link.next->previous = link.previous;
}

void link_behind(HeapLink& link, HeapLink& place) {
    link.previous = &place;
    link.next = place.next;
    link.previous->next = link.next->previous = &link;
}

void destroy(HeapLink& link) {
    unlink(link);
    delete static_cast<Block*>(&link);
}

llvm::Function* declare(llvm::Module& module, const char* name, llvm::FunctionType* type) {
    if (llvm::Function* found = module.getFunction(name)) return found;
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
    function->setDoesNotThrow();
    return function;
}

}  // namespace

HeapMemory allocate_heap_memory(size_t bytes) {
    auto* data = static_cast<char*>(::operator new(std::max<size_t>(bytes, 1), kAlignment));
    return {data, std::shared_ptr<void>(data, [](void* memory) { ::operator delete(memory, kAlignment); }),
            static_cast<int64_t>(bytes)};
}

HeapFrame::HeapFrame(HeapAllocator allocate) : allocate_(allocate) { enter(); }

void HeapFrame::enter() {
    outer_ = std::exchange(current, this);
    entered_ = true;
}

void HeapFrame::leave() {
    current = outer_;
    entered_ = false;
}

HeapFrame::~HeapFrame() {
    if (entered_) leave();
    for (HeapLink* const list : {&blocks_, &kept_}) {
        while (list->next != list) destroy(*list->next);
    }
}

HeapMemory HeapFrame::take(int64_t owner) const {
    return owner == 0 ? HeapMemory{} : block_of(owner)->memory;
}

void HeapFrame::stop(std::exception_ptr reason) {
    (current != nullptr ? current->stopped_ : stopped_without_frame) = std::move(reason);
}

std::exception_ptr HeapFrame::take_stopped() {
    return std::exchange(current != nullptr ? current->stopped_ : stopped_without_frame, nullptr);
}

HeapAllocator HeapFrame::allocator() {
    return current != nullptr ? current->allocate_ : allocate_heap_memory;
}

int64_t HeapFrame::block_count() const {
    int64_t count = 0;
    for (const HeapLink* link = blocks_.next; link != &blocks_; link = link->next) ++count;
    return count;
}

char* heap_allocate(int64_t bytes, int64_t* owner) {
    if (bytes < 0) return nullptr;
    HeapFrame* const frame = current;
    if (frame != nullptr && bytes <= kKeptBytes) {
        for (HeapLink* link = frame->kept_.next; link != &frame->kept_; link = link->next) {
            auto* const kept = static_cast<Block*>(link);
            if (kept->memory.bytes != bytes) continue;
            unlink(*kept);
            --frame->kept_count_;
            link_behind(*kept, frame->blocks_);
            kept->users = 1;
            kept->count = 0;
            *owner = reinterpret_cast<int64_t>(kept);
            return kept->memory.data;
        }
    }
    try {
        auto block = std::make_unique<Block>();
        block->memory =
            (frame != nullptr ? frame->allocate_ : allocate_heap_memory)(static_cast<size_t>(bytes));
        block->memory.bytes = bytes;
        if (frame != nullptr) link_behind(*block, frame->blocks_);
        *owner = reinterpret_cast<int64_t>(block.get());
        return block.release()->memory.data;
    } catch (const std::exception&) {
        return nullptr;
    }
}

char* heap_grow(int64_t bytes, int64_t* owner, int64_t old, int64_t from, int64_t stride, int64_t count) {
    char* const data = heap_allocate(bytes, owner);
    if (data == nullptr) return nullptr;
    Block* const block = block_of(*owner);
    int64_t filled = 0;
    if (old != 0) {
        Block* const before = block_of(old);
        filled = std::min(bytes, before->memory.bytes);
        std::memcpy(data, before->memory.data, static_cast<size_t>(filled));
        HeapFrame::give_back(before);
    }
    block->from = from;
    block->stride = stride;
    block->count = count;
    if (count > 0 && filled < bytes) {
        const int64_t start = std::max(filled, from);
        std::memset(data + start, 0, static_cast<size_t>(std::max<int64_t>(bytes - start, 0)));
    }
    return data;
}

void heap_retain(int64_t owner) {
    if (owner != 0) ++block_of(owner)->users;
}

void heap_release(int64_t owner) {
    if (owner == 0) return;
    Block* const block = block_of(owner);
    if (--block->users > 0) return;
    constexpr auto kWord = static_cast<int64_t>(sizeof(int64_t));
    if (block->count > 0) {
        for (int64_t at = block->from; at + block->count * kWord <= block->memory.bytes;
             at += block->stride) {
            for (int64_t k = 0; k < block->count; ++k) {
                int64_t owned = 0;
                std::memcpy(&owned, block->memory.data + at + k * kWord, sizeof(owned));
                heap_release(owned);
            }
        }
    }
    HeapFrame::give_back(block);
}

void HeapFrame::give_back(void* given) {
    auto* const block = static_cast<Block*>(given);
    HeapFrame* const frame = current;
    const bool is_taken = block->memory.holder.use_count() > 1;  // by the host, while the frame goes on
    if (frame == nullptr || block->memory.bytes > kKeptBytes || is_taken) return destroy(*block);
    if (frame->kept_count_ == kKept) {
        destroy(*frame->kept_.previous);
        --frame->kept_count_;
    }
    unlink(*block);
    link_behind(*block, frame->kept_);
    ++frame->kept_count_;
}

// The result is not said to be unaliased: LLVM would take for granted that a release, which gets the owner,
// does not concern it, and read behind it.
llvm::Function* declare_heap_allocate(llvm::Module& module) {
    llvm::LLVMContext& context = module.getContext();
    llvm::Type* pointer = llvm::PointerType::get(context, 0);
    llvm::Function* function =
        declare(module, kHeapAllocate,
                llvm::FunctionType::get(pointer, {llvm::Type::getInt64Ty(context), pointer}, false));
    function->addParamAttr(1, llvm::Attribute::NoCapture);
    function->setOnlyAccessesInaccessibleMemOrArgMem();
    return function;
}

// It copies and clears memory, so LLVM knows nothing about it.
llvm::Function* declare_heap_grow(llvm::Module& module) {
    llvm::LLVMContext& context = module.getContext();
    llvm::Type *pointer = llvm::PointerType::get(context, 0), *word = llvm::Type::getInt64Ty(context);
    llvm::Function* function = declare(
        module, kHeapGrow, llvm::FunctionType::get(pointer, {word, pointer, word, word, word, word}, false));
    function->addParamAttr(1, llvm::Attribute::NoCapture);
    return function;
}

llvm::Function* declare_heap_count(llvm::Module& module, const char* name) {
    llvm::LLVMContext& context = module.getContext();
    return declare(
        module, name,
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::Type::getInt64Ty(context)}, false));
}

}  // namespace weft::codegen
