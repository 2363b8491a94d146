// A short list of 64-bit integers: shapes and byte strides. Up to six stay inside the object, more on the
// heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>

namespace weft {

constexpr int kMaxDimensions = 64;  // NumPy's limit

class Dims {
public:
    Dims() = default;
    explicit Dims(size_t size, int64_t value = 0) { resize(size, value); }
    Dims(std::initializer_list<int64_t> values) { assign(values.begin(), values.size()); }
    explicit Dims(std::span<const int64_t> values) { assign(values.data(), values.size()); }
    Dims(const Dims& other) {
        if (other.data_ == other.inline_) {
            copy_inline(other);
        } else {
            assign(other.data(), other.size());
        }
    }
    Dims(Dims&& other) noexcept { take(other); }
    Dims& operator=(const Dims& other) {
        if (this != &other) assign(other.data(), other.size());
        return *this;
    }
    Dims& operator=(Dims&& other) noexcept {
        if (this != &other) {
            release();
            take(other);
        }
        return *this;
    }
    ~Dims() { release(); }

    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    int64_t* data() { return data_; }
    const int64_t* data() const { return data_; }
    int64_t* begin() { return data_; }
    int64_t* end() { return data_ + size_; }
    const int64_t* begin() const { return data_; }
    const int64_t* end() const { return data_ + size_; }
    int64_t& operator[](size_t index) { return data_[index]; }
    int64_t operator[](size_t index) const { return data_[index]; }
    int64_t& back() { return data_[size_ - 1]; }
    int64_t back() const { return data_[size_ - 1]; }
    operator std::span<const int64_t>() const { return {data_, size_}; }

    void push_back(int64_t value) {
        reserve(size_ + 1);
        data_[size_++] = value;
    }
    void insert(size_t position, int64_t value) {
        push_back(value);
        std::rotate(data_ + position, data_ + size_ - 1, data_ + size_);
    }
    void erase(size_t position) {
        std::copy(data_ + position + 1, data_ + size_, data_ + position);
        --size_;
    }
    void resize(size_t size, int64_t value = 0) {
        reserve(size);
        std::fill(data_ + std::min<size_t>(size_, size), data_ + size, value);
        size_ = static_cast<uint32_t>(size);
    }
    void clear() { size_ = 0; }

    friend bool operator==(const Dims& a, const Dims& b) {
        return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
    }

private:
    static constexpr uint32_t kInline = 6;

    // All that is inside, used or not: without a branch.
    void copy_inline(const Dims& other) {
        size_ = other.size_;
        std::memcpy(inline_, other.inline_, sizeof inline_);
    }

    void assign(const int64_t* values, size_t size) {
        reserve(size);
        if (size != 0) std::memmove(data_, values, size * sizeof(int64_t));
        size_ = static_cast<uint32_t>(size);
    }
    void reserve(size_t size) {
        if (size <= capacity_) return;
        const size_t capacity = std::max<size_t>(size, 2 * capacity_);
        auto* grown = new int64_t[capacity];
        if (size_ != 0) std::memcpy(grown, data_, size_ * sizeof(int64_t));
        release();
        data_ = grown;
        capacity_ = static_cast<uint32_t>(capacity);
    }
    void release() {
        if (data_ != inline_) delete[] data_;
        data_ = inline_;
        capacity_ = kInline;
    }
    void take(Dims& other) {
        if (other.data_ == other.inline_) {
            copy_inline(other);
        } else {
            data_ = other.data_;
            size_ = other.size_;
            capacity_ = other.capacity_;
            other.data_ = other.inline_;
            other.capacity_ = kInline;
        }
        other.size_ = 0;
    }

    uint32_t size_ = 0;
    uint32_t capacity_ = kInline;
    int64_t* data_ = inline_;
    int64_t inline_[kInline];
};

// Product of the extents; throws ValueError when it does not fit an int64 (see core/shape.h).
int64_t element_count(const Dims& shape);

[[noreturn]] void throw_impossible_shape(const Dims& shape);

// Of many or of long extents, what check_shape asks.
void check_large_shape(const Dims& shape, int64_t itemsize);

// Throws ValueError for shapes that no array with elements of so many bytes can have: of more than 64 axes,
// with a negative extent, or where the bytes are too many for 64 bits, even if another extent is 0.
inline void check_shape(const Dims& shape, int64_t itemsize) {
    constexpr size_t kFew = 3;
    constexpr uint64_t kShort = 1 << 19;  // whose product with 16 bytes is far from 64 bits
    uint64_t bits = 0;
    for (const int64_t extent : shape) bits |= static_cast<uint64_t>(extent);
    if (shape.size() > kFew || bits >= kShort) check_large_shape(shape, itemsize);
}

}  // namespace weft
