#include "codegen/cache/digest.h"

#include <llvm/Support/BLAKE3.h>

namespace weft::codegen {

Digest digest_of(std::initializer_list<std::string_view> parts) {
    llvm::BLAKE3 hasher;
    for (const std::string_view part : parts) hasher.update(llvm::StringRef(part.data(), part.size()));
    return hasher.final<std::tuple_size_v<Digest>>();
}

std::string hexadecimal(const Digest& digest) {
    std::string text;
    for (const uint8_t byte : digest) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

}  // namespace weft::codegen
