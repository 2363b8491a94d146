// Turns an object file in memory into executable code, freed with its owner.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <memory>

namespace weft::codegen {

class LoadedObject {
public:
    // Throws InternalError when the object refers to what neither weft nor its math library has, or does not
    // define the function `symbol`; std::bad_alloc or OutOfMemoryError when there is no memory for it.
    // `data`: of what the owner writes to; or empty.
    LoadedObject(llvm::MemoryBufferRef object, llvm::StringRef symbol, llvm::StringRef data = {});
    ~LoadedObject();
    LoadedObject(LoadedObject&&) noexcept;

    void* function() const { return function_; }
    void* data() const { return data_; }

private:
    class Memory;
    void link(llvm::MemoryBufferRef object, llvm::StringRef symbol, llvm::StringRef data);

    std::unique_ptr<Memory> memory_;
    void* function_ = nullptr;
    void* data_ = nullptr;
};

}  // namespace weft::codegen
