// Texts made of others, one after another; on all threads. The target has the shape of the input, and
// overlaps none of what is read.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/texts.h"

namespace weft::texts {

// Views of one shape.
void join_texts(const View& first, const View& second, const Target& target);
// `removed`: characters of one text, null for white space.
void strip_texts(const View& input, const View* removed, Ends ends, const Target& target);
// Returns the texts that are not of ASCII, which are left as they are in the target.
std::vector<int64_t> change_case_of_texts(const View& input, Case to, const Target& target);
// All of them, as they are.
void copy_texts_of(const View& input, const Target& target);
// The texts at these positions of the flattened view.
void take_texts(const View& input, const int64_t* positions, int64_t count, const Target& target);

}  // namespace weft::texts
