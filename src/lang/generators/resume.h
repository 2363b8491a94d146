// A generator function as the function that goes on with it.
//
// What the generator has to remember from one `yield` to the next is a frame: its state, what it has yielded,
// and the variables that are still read. The function takes the frame, goes on behind the yield that the
// state tells, and returns whether it has come to another one. It is made of the generator's tree: each
// statement runs only where nothing is skipped any more, `.r` says up to which yield, and loops with yields
// are entered in their middle.
#pragma once

#include <cstddef>

#include "lang/symbols.h"

namespace weft::lang {

// Items of a frame, which is a tuple: the state, what was yielded, and then the variables.
constexpr size_t kFrameState = 0, kFrameYielded = 1, kFrameVariables = 2;
// In a frame of what runs, or has ended. 0 has not begun, others are the numbers of yields.
constexpr int kEnded = -1;

bool is_generator(const Tree& tree);
// Makes `resume` of a generator, of a source that stays where it is.
void find_resume(FunctionSource& source);

}  // namespace weft::lang
