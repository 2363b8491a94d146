#include "library/loops/scan_order.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "library/loops/identities.h"

namespace weft {

std::optional<Constant> scan_identity(const OpInfo& op, ScalarType compute) {
    if (!op.facts.scan.has(compute)) return std::nullopt;
    const bool keeps_sign = op.facts.neutral == Neutral::kZero && DType(compute).is_inexact();
    return keeps_sign ? negative_zero(compute) : neutral_element(op.facts.neutral, compute);
}

bool scans_in_order(const OpInfo& op, ScalarType compute, int64_t length) {
    return length <= kScanBlock || !scan_identity(op, compute);
}

namespace {

class RowScan {
public:
    RowScan(const OpInfo& op, const LoopInfo& loop, int64_t length, ScalarType from, ScalarType to)
        : combine_(loop.loop),
          itemsize_(DType::of(loop.types[0]).itemsize()),
          in_order_(scans_in_order(op, loop.types[0], length)),
          length_(length),
          // A bool may be any byte; kernels read it as 0 or 1, a plain copy would not.
          read_(cast_loop(from == ScalarType::kBool && loop.types[0] == from ? ScalarType::kUInt8 : from,
                          loop.types[0])
                    .loop),
          write_(cast_loop(loop.types[0], to).loop),
          values_(static_cast<size_t>(std::min(length, kScanChunk) * itemsize_)) {
        if (!in_order_) identity_ = *scan_identity(op, loop.types[0]);
    }

    void run(const char* from, int64_t from_stride, char* to, int64_t to_stride) {
        alignas(16) char before[16];
        std::memcpy(before, identity_.bytes.data(), sizeof before);
        for (int64_t begin = 0; begin < length_; begin += kScanChunk) {
            const int64_t count = std::min(kScanChunk, length_ - begin);
            char* const input[2] = {const_cast<char*>(from) + begin * from_stride, at(0)};
            const int64_t input_strides[2] = {from_stride, itemsize_};
            read_(input, input_strides, count);
            if (in_order_) {
                in_order(count, before, begin == 0);
            } else {
                in_blocks(count, before);
            }
            char* const output[2] = {at(0), to + begin * to_stride};
            const int64_t output_strides[2] = {itemsize_, to_stride};
            write_(output, output_strides, count);
        }
    }

private:
    char* at(int64_t k) { return values_.data() + k * itemsize_; }
    void combine(char* left, int64_t left_stride, char* right, int64_t stride, int64_t count) {
        char* const data[3] = {left, right, right};
        const int64_t strides[3] = {left_stride, stride, stride};
        combine_(data, strides, count);
    }

    void in_order(int64_t count, char* before, bool first) {
        if (!first) combine(before, 0, at(0), itemsize_, 1);
        for (int64_t k = 1; k < count; ++k) combine(at(k - 1), 0, at(k), itemsize_, 1);
        std::memcpy(before, at(count - 1), static_cast<size_t>(itemsize_));
    }

    void in_blocks(int64_t count, char* before_chunk) {
        const int64_t whole = count / kScanBlock, rest = count % kScanBlock;
        const int64_t apart = kScanBlock * itemsize_;
        for (int64_t k = 1; k < kScanBlock; ++k)  // all blocks side by side
            combine(at(k - 1), apart, at(k), apart, whole + (k < rest ? 1 : 0));
        alignas(16) char before_block[16];
        std::memcpy(before_block, identity_.bytes.data(), sizeof before_block);
        for (int64_t begin = 0; begin < count; begin += kScanBlock) {
            const int64_t length = std::min(kScanBlock, count - begin);
            combine(before_block, 0, at(begin), itemsize_, length);
            std::memcpy(before_block, at(begin + length - 1), static_cast<size_t>(itemsize_));
        }
        combine(before_chunk, 0, at(0), itemsize_, count);
        std::memcpy(before_chunk, at(count - 1), static_cast<size_t>(itemsize_));
    }

    StridedLoop combine_;
    int64_t itemsize_;
    bool in_order_;
    int64_t length_;
    StridedLoop read_, write_;
    std::vector<char> values_;
    Constant identity_;
};

}  // namespace

void scan_eagerly(const OpInfo& op, const LoopInfo& loop, const Dims& shape, size_t axis,
                  const StridedData& input, const StridedData& output) {
    const int64_t rows = element_count(shape) / std::max<int64_t>(shape[axis], 1);
    RowScan scan(op, loop, shape[axis], input.type, output.type);
    Dims position(shape.size());
    for (int64_t row = 0; row < rows; ++row) {
        const char* from = input.data;
        char* to = output.data;
        for (size_t d = 0; d < shape.size(); ++d) {
            from += position[d] * (*input.strides)[d];
            to += position[d] * (*output.strides)[d];
        }
        scan.run(from, (*input.strides)[axis], to, (*output.strides)[axis]);
        for (size_t d = shape.size(); d-- > 0;) {
            if (d == axis) continue;
            if (++position[d] < shape[d]) break;
            position[d] = 0;
        }
    }
}

}  // namespace weft
