// BLAKE3, which tells kernels apart in the cache and finds damage. Declared here without LLVM, which has it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace weft::codegen {

using Digest = std::array<uint8_t, 32>;

// Of the parts one after another.
Digest digest_of(std::initializer_list<std::string_view> parts);

std::string hexadecimal(const Digest& digest);

}  // namespace weft::codegen
