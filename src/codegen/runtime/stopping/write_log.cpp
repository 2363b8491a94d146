#include "codegen/runtime/stopping/write_log.h"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <cstring>
#include <new>
#include <utility>

namespace weft::codegen {

namespace {

// A call that writes more waits for the good code, rather than for what it has written to be undone.
constexpr size_t kMostWrites = 1 << 15;
constexpr size_t kFirstWrites = 64;

thread_local constinit WriteLog* log_of_thread = nullptr;

}  // namespace

WriteLog::WriteLog() : around_(std::exchange(log_of_thread, this)) {}

WriteLog::~WriteLog() { log_of_thread = around_; }

void WriteLog::undo() {
    for (; !entries_.empty(); entries_.pop_back())
        std::memcpy(entries_.back().at, entries_.back().before, static_cast<size_t>(entries_.back().bytes));
}

int64_t note_write(char* at, int64_t bytes) {
    WriteLog* const log = log_of_thread;
    if (log == nullptr || !log->is_open_ || at == nullptr) return 1;
    try {
        if (log->entries_.size() < kMostWrites) {
            if (log->entries_.empty()) log->entries_.reserve(kFirstWrites);
            WriteLog::Entry& entry = log->entries_.emplace_back();
            entry.at = at;
            entry.bytes = bytes;
            std::memcpy(entry.before, at, static_cast<size_t>(bytes));
            return 1;
        }
    } catch (const std::bad_alloc&) {
    }
    log->is_full_ = true;
    return 0;
}

llvm::Function* declare_note_write(llvm::Module& module) {
    if (llvm::Function* found = module.getFunction(kNoteWrite)) return found;
    llvm::Type* word = llvm::Type::getInt64Ty(module.getContext());
    auto* type = llvm::FunctionType::get(word, {llvm::PointerType::get(module.getContext(), 0), word}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kNoteWrite, module);
    function->setDoesNotThrow();
    return function;
}

}  // namespace weft::codegen
