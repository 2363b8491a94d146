// Different rows in a table of open addresses: by a hash of the row.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace weft::texts {

// Both halves of a product, so that each bit of a word changes many of the hash.
inline uint64_t mixed(uint64_t hash, uint64_t word) {
    const unsigned __int128 product = static_cast<unsigned __int128>(hash ^ word ^ 0x9e3779b97f4a7c15U) *
                                      static_cast<unsigned __int128>(0xd6e8feb86659fd93U);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

template <class Word>
uint64_t word_at(const char* from) {
    Word value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Rows of words side by side.
struct KeyRows {
    const uint64_t* words = nullptr;
    int64_t count = 0;
    int width = 1;  // words of a row

    const uint64_t* at(int64_t row) const { return words + row * width; }
    uint64_t hash(const uint64_t* row) const {
        uint64_t hash = 0;
        for (int k = 0; k < width; ++k) hash = mixed(hash, row[k]);
        return hash;
    }
    bool equal(const uint64_t* a, const uint64_t* b) const {
        for (int k = 0; k < width; ++k) {
            if (a[k] != b[k]) return false;
        }
        return true;
    }
};

// Rows of bytes, one stride apart.
struct ByteRows {
    const char* data = nullptr;
    int64_t stride = 0, count = 0, size = 1;

    const char* at(int64_t row) const { return data + row * stride; }
    uint64_t hash(const char* row) const {
        if (size < 4) {
            const auto byte = [&](int64_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(row[i])); };
            return mixed(0, byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16);
        }
        if (size < 8) return mixed(0, word_at<uint32_t>(row) | word_at<uint32_t>(row + size - 4) << 32);
        uint64_t hash = 0;
        for (int64_t i = 0; i + 8 <= size; i += 8) hash = mixed(hash, word_at<uint64_t>(row + i));
        return size % 8 == 0 ? hash : mixed(hash, word_at<uint64_t>(row + size - 8));
    }
    bool equal(const char* a, const char* b) const {
        if (size < 4) {
            for (int64_t i = 0; i < size; ++i) {
                if (a[i] != b[i]) return false;
            }
            return true;
        }
        if (size < 8)
            return word_at<uint32_t>(a) == word_at<uint32_t>(b) &&
                   word_at<uint32_t>(a + size - 4) == word_at<uint32_t>(b + size - 4);
        for (int64_t i = 0; i + 8 <= size; i += 8) {
            if (word_at<uint64_t>(a + i) != word_at<uint64_t>(b + i)) return false;
        }
        return size % 8 == 0 || word_at<uint64_t>(a + size - 8) == word_at<uint64_t>(b + size - 8);
    }
};

template <class Rows>
class RowTable {
public:
    RowTable(const Rows& rows, int64_t expected)
        : rows_(rows), slots_(std::bit_ceil(static_cast<uint64_t>(2 * expected + 16))) {}

    int64_t count() const { return static_cast<int64_t>(rows_of_.size()); }
    // The row that each number stands for.
    const std::vector<int64_t>& rows() const { return rows_of_; }

    // The number of what this row is, which is a new one where it was not there.
    int32_t insert(int64_t row) {
        const auto* const element = rows_.at(row);
        const uint64_t hash = rows_.hash(element);
        Slot& slot = slots_[place_of(element, hash)];
        if (slot.number >= 0) return slot.number;
        const auto number = static_cast<int32_t>(rows_of_.size());
        slot = {static_cast<uint32_t>(hash >> 32), number};
        rows_of_.push_back(row);
        if (2 * rows_of_.size() > slots_.size()) grow();
        return number;
    }

    // The number of what a row is, maybe one of others; -1 where it is not there.
    template <class Element>
    int32_t find(const Element* element) const {
        return slots_[place_of(element, rows_.hash(element))].number;
    }

private:
    struct Slot {
        uint32_t tag = 0;
        int32_t number = -1;
    };

    template <class Element>
    size_t place_of(const Element* element, uint64_t hash) const {
        const auto tag = static_cast<uint32_t>(hash >> 32);
        size_t place = hash & (slots_.size() - 1);
        for (;; place = (place + 1) & (slots_.size() - 1)) {
            const Slot& slot = slots_[place];
            if (slot.number < 0) return place;
            if (slot.tag == tag && rows_.equal(rows_.at(rows_of_[static_cast<size_t>(slot.number)]), element))
                return place;
        }
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.number < 0) continue;
            const uint64_t hash = rows_.hash(rows_.at(rows_of_[static_cast<size_t>(slot.number)]));
            size_t place = hash & (slots_.size() - 1);
            while (slots_[place].number >= 0) place = (place + 1) & (slots_.size() - 1);
            slots_[place] = slot;
        }
    }

    Rows rows_;
    std::vector<Slot> slots_;
    std::vector<int64_t> rows_of_;
};

}  // namespace weft::texts
