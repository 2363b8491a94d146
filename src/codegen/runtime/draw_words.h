// What kernels for CPUs call to draw, as machine code (draw_lowering.h) or interpreted: the words of a stream
// from a position on, as the processor makes them best (random/stream_words.h).
#pragma once

#include <string_view>

#include "ops/op.h"

namespace weft::codegen {

// The function void (out, i64 count, i64 first, origin) that machine code calls for an operation that draws
// words or halves of them; `origin` is what the operation takes behind the position.
const char* draw_words_name(OpId op);
// Null: there is none of that name.
void* find_draw_words(std::string_view name);

// For the vectorised interpreter: a loop over the operation that draws the words of neighbours one from
// another. Null: of other operations.
const LoopInfo* find_drawing_loop(OpId op);

}  // namespace weft::codegen
