// Turns an object file in memory into executable code, freed with its owner.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <memory>

namespace weft::codegen {

class LoadedObject {
public:
    // Throws InternalError when the object refers to what neither weft nor its math library has, or does not
    // define the function `symbol`.
    LoadedObject(llvm::MemoryBufferRef object, llvm::StringRef symbol);
    ~LoadedObject();
    LoadedObject(LoadedObject&&) noexcept;

    void* function() const { return function_; }

private:
    class Memory;
    std::unique_ptr<Memory> memory_;
    void* function_ = nullptr;
};

}  // namespace weft::codegen
