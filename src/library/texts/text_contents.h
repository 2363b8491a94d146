// What texts are and contain, one after another; on all threads. Views that are taken together have one shape
// and one kind of characters; results are in C order.
#pragma once

#include <cstdint>

#include "weft/texts.h"

namespace weft::texts {

void compare_texts(const View& first, const View& second, Comparison comparison, bool* to);

void lengths_of_texts(const View& input, int64_t* to);
void find_in_texts(const View& input, const View& wanted, bool last, int64_t* to);
void count_in_texts(const View& input, const View& wanted, int64_t* to);
void match_ends_of_texts(const View& input, const View& wanted, bool at_end, bool* to);

}  // namespace weft::texts
