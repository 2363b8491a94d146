#include "library/texts/text_search.h"

#include <algorithm>

#include "core/threads/interrupt.h"
#include "core/threads/thread_pool.h"
#include "library/ordering/search_loops.h"
#include "library/texts/stretches.h"
#include "library/texts/text_keys.h"
#include "library/texts/two_texts.h"

namespace weft::texts {

namespace {

constexpr int64_t kPart = int64_t{1} << 14;

void search_words(const TextKeys& sorted, const TextKeys& values, bool right, int64_t* to) {
    search_sorted(ScalarType::kUInt64, reinterpret_cast<const char*>(sorted.data()), sizeof(uint64_t),
                  sorted.count(), reinterpret_cast<const char*>(values.data()), values.count(), right, to);
}

// to[i] = where value i belongs between to[i] and behind[i].
template <class Char>
void search_ranges(const View& sorted, const View& values, bool right, int64_t* to, const int64_t* behind) {
    const Stretches<1> stretches(values.shape, {&values.strides});
    const auto *const data = static_cast<const char*>(values.data), *const among =
                                                                        static_cast<const char*>(sorted.data);
    const auto is_before = [&](int64_t place, const char* value) {
        const char* const text = among + place * sorted.strides[0];
        return right ? !less_text<Char>(value, values.width, text, sorted.width)
                     : less_text<Char>(text, sorted.width, value, values.width);
    };
    for_parts(element_count(values.shape), values.width, [&](int64_t begin, int64_t end) {
        stretches.run(begin, end,
                      [&](int64_t first, int64_t count, const auto& offsets, const auto& strides) {
                          const char* value = data + offsets[0];
                          for (int64_t i = first; i < first + count; ++i, value += strides[0]) {
                              int64_t low = to[i], high = behind[i];
                              // Often all of them are equal: the ends say so.
                              if (low < high && !is_before(low, value)) continue;
                              if (low < high && is_before(high - 1, value)) low = high;
                              while (low < high) {
                                  const int64_t middle = low + (high - low) / 2;
                                  if (is_before(middle, value)) {
                                      low = middle + 1;
                                  } else {
                                      high = middle;
                                  }
                              }
                              to[i] = low;
                          }
                      });
    });
}

}  // namespace

void search_texts(const View& sorted, const View& values, bool right, int64_t* to) {
    const WordCode code{&sorted, &values};
    const TextKeys first_among(sorted, code, 1), first_wanted(values, code, 1);
    search_words(first_among, first_wanted, right && code.words() == 1, to);
    if (code.words() == 1) return;
    // The first words say all of most texts; the others are looked for among those with that first word.
    const KeyMemory<int64_t> behind(first_wanted.count());
    search_words(first_among, first_wanted, true, behind.data());
    visit_character(values.character, [&](auto tag) {
        search_ranges<decltype(tag)>(sorted, values, right, to, behind.data());
    });
}

void find_rows(const KeyRows& rows, const KeyRows& wanted, bool invert, bool* to) {
    RowTable<KeyRows> table(wanted, std::min<int64_t>(wanted.count, 1 << 16));
    for (int64_t k = 0; k < wanted.count; ++k) {
        table.insert(k);
        if ((k & 0xffff) == 0xffff) pause_point();
    }
    parallel_for((rows.count + kPart - 1) / kPart, [&](int64_t task) {
        const int64_t end = std::min((task + 1) * kPart, rows.count);
        for (int64_t i = task * kPart; i < end; ++i) to[i] = (table.find(rows.at(i)) >= 0) != invert;
    });
}

}  // namespace weft::texts
