// What kernels for CPUs call to draw (draw_lowering.h): the words of a stream from a position on, as the
// processor makes them best (core/stream_words.h).
#pragma once

#include <llvm/IR/Module.h>

#include <string_view>

#include "codegen/draw_streams.h"

namespace weft::codegen {

// void (out, i64 count, i64 first, origin): `origin` is what the operations of ops/scalar/random_bits.h take
// behind the position.
llvm::Function* declare_draw_words(llvm::Module& module, Stream stream);

// The function of that name; null: there is none.
void* find_draw_words(std::string_view name);

}  // namespace weft::codegen
