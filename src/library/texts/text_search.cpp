#include "library/texts/text_search.h"

#include <algorithm>

#include "core/threads/interrupt.h"
#include "core/threads/thread_pool.h"
#include "library/ordering/search_loops.h"
#include "library/texts/stretches.h"
#include "library/texts/text_keys.h"

namespace weft::texts {

namespace {

constexpr int64_t kPart = int64_t{1} << 14;

void search_words(const TextKeys& sorted, const TextKeys& values, bool right, int64_t* to) {
    search_sorted(ScalarType::kUInt64, reinterpret_cast<const char*>(sorted.data()), sizeof(uint64_t),
                  sorted.count(), reinterpret_cast<const char*>(values.data()), values.count(), right, to);
}

}  // namespace

void search_texts(const View& sorted, const View& values, bool right, int64_t* to) {
    const WordCode code{&sorted, &values};
    const TextKeys first_among(sorted, code, 1), first_wanted(values, code, 1);
    search_words(first_among, first_wanted, right && code.words() == 1, to);
    if (code.words() == 1) return;
    // The first words say all of most texts; the others by what follows, among those with that first word.
    const KeyMemory<int64_t> behind(first_wanted.count());
    search_words(first_among, first_wanted, true, behind.data());
    const Stretches<1> stretches(values.shape, {&values.strides});
    const auto *const data = static_cast<const char*>(values.data), *const among =
                                                                        static_cast<const char*>(sorted.data);
    for_parts(first_wanted.count(), values.width, [&](int64_t begin, int64_t end) {
        stretches.run(begin, end,
                      [&](int64_t first, int64_t count, const auto& offsets, const auto& strides) {
                          const char* value = data + offsets[0];
                          for (int64_t i = 0; i < count; ++i, value += strides[0]) {
                              int64_t low = to[first + i], high = behind.data()[first + i];
                              while (low < high) {
                                  const int64_t middle = low + (high - low) / 2;
                                  const char* const text = among + middle * sorted.strides[0];
                                  bool before = right;  // where they are equal
                                  for (int k = 1; k < code.words(); ++k) {
                                      const uint64_t here = code.word(text, sorted.width, k);
                                      const uint64_t wanted = code.word(value, values.width, k);
                                      if (here == wanted) continue;
                                      before = here < wanted;
                                      break;
                                  }
                                  if (before) {
                                      low = middle + 1;
                                  } else {
                                      high = middle;
                                  }
                              }
                              to[first + i] = low;
                          }
                      });
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
