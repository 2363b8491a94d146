#include "codegen/cache/engine_identity.h"

#include <elf.h>
#include <link.h>
#include <llvm/Config/llvm-config.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::codegen {
namespace {

const char kInside = 0;  // an address of this library

size_t padded(size_t size) { return (size + 3) / 4 * 4; }

std::string find_build_id(const char* notes, size_t size) {
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) header;
        std::memcpy(&header, notes, sizeof header);
        const size_t whole = sizeof header + padded(header.n_namesz) + padded(header.n_descsz);
        if (whole > size) break;
        const char* name = notes + sizeof header;
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
            std::string text;
            for (size_t k = 0; k < header.n_descsz; ++k) {
                const auto byte = static_cast<uint8_t>(name[padded(header.n_namesz) + k]);
                text += "0123456789abcdef"[byte >> 4];
                text += "0123456789abcdef"[byte & 15];
            }
            return text;
        }
        notes += whole;
        size -= whole;
    }
    return {};
}

// One loaded library: where it is ours, takes the build ID from its notes and ends the search.
int inspect_library(dl_phdr_info* library, size_t, void* result) {
    const auto own = reinterpret_cast<uintptr_t>(&kInside);
    bool ours = false;
    for (int k = 0; k < library->dlpi_phnum; ++k) {
        const auto& part = library->dlpi_phdr[k];
        const uintptr_t begin = library->dlpi_addr + part.p_vaddr;
        ours |= part.p_type == PT_LOAD && own >= begin && own - begin < part.p_memsz;
    }
    if (!ours) return 0;
    auto& text = *static_cast<std::string*>(result);
    for (int k = 0; k < library->dlpi_phnum && text.empty(); ++k) {
        const auto& part = library->dlpi_phdr[k];
        if (part.p_type != PT_NOTE) continue;
        text = find_build_id(reinterpret_cast<const char*>(library->dlpi_addr + part.p_vaddr), part.p_memsz);
    }
    return 1;
}

}  // namespace

const std::string& engine_build_id() {
    static const std::string* const identity = [] {
        auto* text = new std::string;
        dl_iterate_phdr(&inspect_library, text);
        return text;
    }();
    return *identity;
}

std::string engine_identity() {
    return "weft " WEFT_VERSION "\nllvm " LLVM_VERSION_STRING "\nengine " + engine_build_id() + "\n";
}

}  // namespace weft::codegen
