#include "codegen/runtime/draw_words.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "ops/scalar/random_bits.h"
#include "random/stream_steps.h"
#include "random/stream_words.h"

namespace weft::codegen {

namespace {

template <class Stream>
void draw_pcg(WordFunctions::Pcg words, uint64_t* out, int64_t count, int64_t first, const uint64_t* origin) {
    const scalar::Wide at =
        scalar::state_at<Stream>(static_cast<uint64_t>(first) - Stream::kFirstStep,
                                 scalar::wide(origin[1], origin[0]), scalar::wide(origin[3], origin[2]));
    std::array<uint64_t, 4> state = {static_cast<uint64_t>(at), static_cast<uint64_t>(at >> 64), origin[2],
                                     origin[3]};
    words(out, static_cast<size_t>(count), state.data());
}

void draw_pcg64(uint64_t* out, int64_t count, int64_t first, const uint64_t* origin) {
    draw_pcg<scalar::Pcg64>(word_functions().pcg64, out, count, first, origin);
}

void draw_pcg64_dxsm(uint64_t* out, int64_t count, int64_t first, const uint64_t* origin) {
    draw_pcg<scalar::Pcg64Dxsm>(word_functions().pcg64_dxsm, out, count, first, origin);
}

void draw_philox(uint64_t* out, int64_t count, int64_t first, const uint64_t* origin) {
    const WordFunctions::Blocks blocks = word_functions().philox;
    Philox::Block counter = {origin[0], origin[1], origin[2], origin[3]};
    const uint64_t* key = origin + counter.size();
    const auto block_words = static_cast<int64_t>(counter.size());
    Philox::add(counter.data(), static_cast<uint64_t>(first / block_words));
    const auto draw_part = [&](int64_t begin, int64_t words) {
        Philox::Block block{};
        blocks(block.data(), 1, counter.data(), key);
        Philox::add(counter.data(), 1);
        out = std::copy_n(block.data() + begin, words, out);
        count -= words;
    };
    if (const int64_t begin = first % block_words) draw_part(begin, std::min(count, block_words - begin));
    if (const int64_t whole = count / block_words) {
        blocks(out, static_cast<size_t>(whole), counter.data(), key);
        Philox::add(counter.data(), static_cast<uint64_t>(whole));
        out += whole * block_words;
        count -= whole * block_words;
    }
    if (count != 0) draw_part(0, count);
}

using Draw = void (*)(uint64_t* out, int64_t count, int64_t first, const uint64_t* origin);

// What the vectorised interpreter calls: the position's place, those of the origin's `kWords`, the result's.
template <OpId op, Draw draw, class Unit, size_t kWords>
void draw_block(char* const* data, const int64_t* strides, int64_t count) {
    constexpr int64_t kTogether = 512;
    constexpr int64_t kUnits = sizeof(uint64_t) / sizeof(Unit);
    const auto position = [&](int64_t i) {
        int64_t value = 0;
        std::memcpy(&value, data[0] + i * strides[0], sizeof value);
        return value;
    };
    bool in_order = strides[kWords + 1] == sizeof(Unit);
    for (size_t k = 1; k <= kWords; ++k) in_order &= strides[k] == 0;
    for (int64_t i = 1; i < count; ++i) in_order &= position(i) == position(0) + i;
    if (!in_order) {
        op_info(op).loops[0].loop(data, strides, count);
        return;
    }
    std::array<uint64_t, kWords> origin{};
    for (size_t k = 0; k < kWords; ++k) std::memcpy(&origin[k], data[k + 1], sizeof(uint64_t));
    const int64_t begin = position(0);  // the result may take the place of what is read
    char* out = data[kWords + 1];
    for (int64_t i = 0; i < count;) {
        std::array<uint64_t, kTogether> words;  // NOLINT: what is read of it is written before
        const int64_t first = begin + i, inside = first % kUnits;
        const int64_t units = std::min(count - i, kTogether * kUnits - inside);
        draw(words.data(), (inside + units + kUnits - 1) / kUnits, first / kUnits, origin.data());
        const auto bytes = static_cast<size_t>(units) * sizeof(Unit);
        std::memcpy(out, reinterpret_cast<const char*>(words.data()) + inside * int64_t{sizeof(Unit)}, bytes);
        out += bytes;
        i += units;
    }
}

struct DrawingOp {
    OpId op;
    const char* name;
    Draw draw;
    StridedLoop loop;
};

constexpr DrawingOp kDrawingOps[] = {
    {OpId::kPcg64Word, "weft_draw_pcg64", draw_pcg64, draw_block<OpId::kPcg64Word, draw_pcg64, uint64_t, 4>},
    {OpId::kPcg64Half, "weft_draw_pcg64", draw_pcg64, draw_block<OpId::kPcg64Half, draw_pcg64, uint32_t, 4>},
    {OpId::kPcg64dxsmWord, "weft_draw_pcg64_dxsm", draw_pcg64_dxsm,
     draw_block<OpId::kPcg64dxsmWord, draw_pcg64_dxsm, uint64_t, 4>},
    {OpId::kPcg64dxsmHalf, "weft_draw_pcg64_dxsm", draw_pcg64_dxsm,
     draw_block<OpId::kPcg64dxsmHalf, draw_pcg64_dxsm, uint32_t, 4>},
    {OpId::kPhiloxWord, "weft_draw_philox", draw_philox,
     draw_block<OpId::kPhiloxWord, draw_philox, uint64_t, 6>},
    {OpId::kPhiloxHalf, "weft_draw_philox", draw_philox,
     draw_block<OpId::kPhiloxHalf, draw_philox, uint32_t, 6>},
};

constexpr size_t kNone = std::size(kDrawingOps);

size_t find(OpId op) {
    size_t k = 0;
    while (k < kNone && kDrawingOps[k].op != op) ++k;
    return k;
}

}  // namespace

const char* draw_words_name(OpId op) { return kDrawingOps[find(op)].name; }

void* find_draw_words(std::string_view name) {
    for (const DrawingOp& each : kDrawingOps) {
        if (each.name == name) return reinterpret_cast<void*>(each.draw);
    }
    return nullptr;
}

const LoopInfo* find_drawing_loop(OpId op) {
    static const auto loops = [] {
        std::array<LoopInfo, kNone> result{};
        for (size_t k = 0; k < kNone; ++k) {
            result[k] = op_info(kDrawingOps[k].op).loops[0];
            result[k].loop = kDrawingOps[k].loop;
        }
        return result;
    }();
    const size_t k = find(op);
    return k == kNone ? nullptr : &loops[k];
}

}  // namespace weft::codegen
