#include "codegen/runtime/object_loader.h"

#include <dlfcn.h>
#include <llvm/ExecutionEngine/RTDyldMemoryManager.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/Error.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "codegen/runtime/block_threads.h"
#include "codegen/runtime/draw_words.h"
#include "codegen/runtime/engine_call.h"
#include "codegen/runtime/external_functions.h"
#include "codegen/runtime/grid_blocks.h"
#include "codegen/runtime/heap.h"
#include "codegen/runtime/lazy_parts.h"
#include "codegen/runtime/llvm_guard.h"
#include "codegen/runtime/shared_memory.h"
#include "codegen/runtime/spread.h"
#include "codegen/runtime/stack_limit.h"
#include "codegen/runtime/stopping/pause.h"
#include "codegen/runtime/stopping/write_log.h"
#include "codegen/runtime/tell.h"
#include "core/memory/allocation_failure.h"
#include "weft/errors.h"

extern "C" {
// Half-precision conversions of the compiler's run-time library, for CPUs without F16C.
float __extendhfsf2(_Float16);
_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);
}

namespace weft::codegen {
namespace {

// What LLVM makes of llvm.maxnum and llvm.minnum where it does not call a function, bit for bit: of zeros of
// both signs libm's functions might choose the other.
template <class T>
T maxnum(T a, T b) {
    return a != a || b > a ? b : a;
}
template <class T>
T minnum(T a, T b) {
    return a != a || b < a ? b : a;
}

size_t round_up(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

// The functions that machine code may call: what LLVM makes of intrinsics, what draws, and the math library
// beside libweft.
void* find_external(const std::string& name) {
    struct Entry {
        const char* name;
        void* address;
    };
    static const Entry entries[] = {
        {"memcpy", reinterpret_cast<void*>(&std::memcpy)},
        {"memmove", reinterpret_cast<void*>(&std::memmove)},
        {"memset", reinterpret_cast<void*>(&std::memset)},
        {"fma", reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(&std::fma))},
        {"fmaf", reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(&std::fma))},
        {"fmax", reinterpret_cast<void*>(&maxnum<double>)},
        {"fmaxf", reinterpret_cast<void*>(&maxnum<float>)},
        {"fmin", reinterpret_cast<void*>(&minnum<double>)},
        {"fminf", reinterpret_cast<void*>(&minnum<float>)},
        {kHeapAllocate, reinterpret_cast<void*>(&heap_allocate)},
        {kHeapGrow, reinterpret_cast<void*>(&heap_grow)},
        {kHeapRetain, reinterpret_cast<void*>(&heap_retain)},
        {kEngineThrewCall, reinterpret_cast<void*>(&engine_threw)},
        {kTell, reinterpret_cast<void*>(&tell)},
        {kHeapRelease, reinterpret_cast<void*>(&heap_release)},
        {kLazyPart, reinterpret_cast<void*>(&lazy_part)},
        {kPause, reinterpret_cast<void*>(&pause)},
        {kStackLimit, reinterpret_cast<void*>(&stack_limit)},
        {kNoteWrite, reinterpret_cast<void*>(&note_write)},
        {kSpread, reinterpret_cast<void*>(&spread)},
        {kSpreadTogether, reinterpret_cast<void*>(&spread_together)},
        {kBlockBarrier, reinterpret_cast<void*>(&block_barrier)},
        {kGridBarrier, reinterpret_cast<void*>(&grid_barrier)},
        {kBlockVote, reinterpret_cast<void*>(&block_vote)},
        {kWarpExchange, reinterpret_cast<void*>(&warp_exchange)},
        {kTakeSharedMemory, reinterpret_cast<void*>(&take_shared_memory)},
        {kGiveSharedMemory, reinterpret_cast<void*>(&give_shared_memory)},
        {"__extendhfsf2", reinterpret_cast<void*>(&__extendhfsf2)},
        {"__truncsfhf2", reinterpret_cast<void*>(&__truncsfhf2)},
        {"__truncdfhf2", reinterpret_cast<void*>(&__truncdfhf2)},
    };
    for (const Entry& entry : entries) {
        if (name == entry.name) return entry.address;
    }
    if (void* const draw = find_draw_words(name)) return draw;
    if (void* const function = find_engine_symbol(name)) return function;
    if (name.starts_with("Sleef_")) return dlsym(RTLD_DEFAULT, name.c_str());
    const ExternalFunctions find = external_functions();
    return find != nullptr ? find(name.c_str()) : nullptr;
}

class Resolver final : public llvm::LegacyJITSymbolResolver {
public:
    llvm::JITSymbol findSymbol(const std::string& name) override {
        void* address = find_external(name);
        if (address == nullptr) return nullptr;
        return {reinterpret_cast<llvm::JITTargetAddress>(address), llvm::JITSymbolFlags::Exported};
    }
    llvm::JITSymbol findSymbolInLogicalDylib(const std::string&) override { return nullptr; }
};

}  // namespace

// Places one object's sections into one mapping: code, constants and the linker's own table of addresses,
// which nobody writes to when they are linked, side by side; from a page of their own on what may be written.
// So relative addresses always reach, and a kernel costs one mmap and the pages that its bytes fill.
class LoadedObject::Memory final : public llvm::RuntimeDyld::MemoryManager {
public:
    ~Memory() override {
        if (is_substitute_) {
            std::free(base_);
        } else if (base_ != nullptr) {
            munmap(base_, size_);
        }
    }

    bool needsToReserveAllocationSpace() override { return true; }

    void reserveAllocationSpace(uintptr_t code, llvm::Align code_alignment, uintptr_t constants,
                                llvm::Align constants_alignment, uintptr_t data, llvm::Align) override {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        // The table of addresses is not counted in `data`; a page holds 512 of them.
        linked_size_ =
            round_up(code + code_alignment.value() + constants + constants_alignment.value(), page) + page;
        size_ = linked_size_ + round_up(data, page);
        void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) {
            // The linker does not bear that: it comes to its end in other memory, and finalizeMemory fails.
            is_substitute_ = true;
            mapped = std::aligned_alloc(page, size_);
        }
        base_ = static_cast<uint8_t*>(mapped);
        linked_ = {base_, base_ + linked_size_};
        data_ = {linked_.end, base_ + size_};
    }

    uint8_t* allocateCodeSection(uintptr_t size, unsigned alignment, unsigned, llvm::StringRef) override {
        return linked_.take(size, alignment);
    }

    uint8_t* allocateDataSection(uintptr_t size, unsigned alignment, unsigned, llvm::StringRef name,
                                 bool read_only) override {
        return (read_only || name == ".got" ? linked_ : data_).take(size, alignment);
    }

    void registerEHFrames(uint8_t*, uint64_t, size_t) override {}  // kernels do not throw
    void deregisterEHFrames() override {}

    bool finalizeMemory(std::string* error) override {
        if (is_substitute_) {
            errno = ENOMEM;
        } else if (mprotect(base_, linked_size_, PROT_READ | PROT_EXEC) == 0) {
            return false;
        }
        out_of_memory_ = errno == ENOMEM;
        if (error != nullptr) *error = std::strerror(errno);
        return true;
    }

    bool out_of_memory() const { return out_of_memory_; }
    size_t size() const { return size_; }

private:
    struct Part {
        uint8_t* next = nullptr;
        uint8_t* end = nullptr;
        uint8_t* take(uintptr_t size, unsigned alignment) {
            auto* start = reinterpret_cast<uint8_t*>(
                round_up(reinterpret_cast<uintptr_t>(next), alignment == 0 ? 1 : alignment));
            if (start + size > end) return nullptr;
            next = start + size;
            return start;
        }
    };

    uint8_t* base_ = nullptr;
    size_t size_ = 0, linked_size_ = 0;
    bool is_substitute_ = false, out_of_memory_ = false;
    Part linked_, data_;
};

LoadedObject::LoadedObject(llvm::MemoryBufferRef object, llvm::StringRef symbol, llvm::StringRef data)
    : memory_(std::make_unique<Memory>()) {
    try {
        run_llvm([&] { link(object, symbol, data); });
    } catch (const LlvmGaveUp& failure) {
        failure.throw_as_error();
    }
}

void LoadedObject::link(llvm::MemoryBufferRef object, llvm::StringRef symbol, llvm::StringRef data) {
    auto parsed = llvm::object::ObjectFile::createObjectFile(object);
    if (!parsed) throw InternalError("the object file is malformed: " + llvm::toString(parsed.takeError()));
    Resolver resolver;
    llvm::RuntimeDyld linker(*memory_, resolver);
    linker.loadObject(**parsed);
    if (!linker.hasError()) linker.resolveRelocations();
    if (linker.hasError()) throw InternalError("a kernel cannot be linked: " + linker.getErrorString().str());
    std::string error;
    if (memory_->finalizeMemory(&error)) {
        if (memory_->out_of_memory()) throw_allocation_failure(memory_->size());
        throw InternalError("machine code cannot be made executable: " + error);
    }
    function_ = linker.getSymbolLocalAddress(symbol);
    if (function_ == nullptr) throw InternalError("the machine code has no function " + symbol.str());
    if (data.empty()) return;
    data_ = linker.getSymbolLocalAddress(data);
    if (data_ == nullptr) throw InternalError("the machine code has no data " + data.str());
}

LoadedObject::~LoadedObject() = default;
LoadedObject::LoadedObject(LoadedObject&&) noexcept = default;

}  // namespace weft::codegen
