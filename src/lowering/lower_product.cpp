#include "lowering/lower_product.h"

#include <array>
#include <vector>

#include "weft/dtype.h"

namespace weft {

namespace {

using ir::Builder;
using ir::ValueId;
using Values = std::vector<ValueId>;

constexpr int64_t kSide = 16;                   // threads of a block along each axis of the tile
constexpr int64_t kOwn = kProductTile / kSide;  // rows and columns of a thread
constexpr int64_t kDepth = 16;                  // steps along k that are in shared memory at once
constexpr size_t kSums = static_cast<size_t>(kOwn * kOwn);
constexpr int64_t kGap =
    1;  // elements after a row of shared memory, so that a column of it is in different banks

class TileProduct {
public:
    TileProduct(Builder& builder, const KernelForm& form, const ProductOperands& operands,
                std::span<const ValueId> tile)
        : b_(builder),
          form_(form),
          operands_(operands),
          element_(form.outputs[0].buffer.element),
          compute_(product_accumulator(element_)),
          batch_(tile[0]),
          first_row_(b_.apply(OpId::kMultiply, {tile[1], b_.index(kProductTile)})),
          first_column_(b_.apply(OpId::kMultiply, {tile[2], b_.index(kProductTile)})) {}

    void by_team() {
        const ValueId left = shared("left_tile", 1), right = shared("right_tile", 2);
        const Values threads{b_.index(kSide), b_.index(kSide)};
        b_.parallel(ir::ParallelLevel::kBlock, threads, [&](Builder&, std::span<const ValueId> thread) {
            const Values zeros(kSums, zero());
            const Values sums = b_.for_loop(
                b_.index(0), operands_.k, b_.index(kDepth), zeros,
                [&](Builder&, std::span<const ValueId> arguments) {
                    fill(left, operands_.left, first_row_, operands_.m, true, arguments[0], thread);
                    fill(right, operands_.right, first_column_, operands_.n, false, arguments[0], thread);
                    b_.barrier();
                    const Values more = add_up(left, right, thread, arguments.subspan(1));
                    b_.barrier();
                    return more;
                });
            store(sums, thread);
            return Values{};
        });
    }

    // The same by one thread, a row after the other.
    void in_order() {
        const ValueId tile = b_.index(kProductTile), zero_index = b_.index(0), one = b_.index(1);
        const auto end = [&](ValueId first, ValueId extent) {
            return b_.apply(OpId::kMinimum, {b_.apply(OpId::kAdd, {first, tile}), extent});
        };
        b_.for_loop(
            first_row_, end(first_row_, operands_.m), one, {}, [&](Builder&, std::span<const ValueId> rows) {
                b_.for_loop(
                    first_column_, end(first_column_, operands_.n), one, {},
                    [&](Builder&, std::span<const ValueId> columns) {
                        const Values at{batch_, rows[0], columns[0]};
                        const Values initial{zero()};
                        const Values sum = b_.for_loop(
                            zero_index, operands_.k, one, initial, [&](Builder&, std::span<const ValueId> k) {
                                const Values place{at[0], at[1], at[2], k[0]};
                                return Values{
                                    multiply_add(k[1], b_.cast(b_.load(operands_.left, place), compute_),
                                                 b_.cast(b_.load(operands_.right, place), compute_))};
                            });
                        const Values place{at[0], at[1], at[2], zero_index};
                        b_.store(operands_.out, finished(sum[0], place), place);
                        return Values{};
                    });
                return Values{};
            });
    }

private:
    ValueId zero() { return b_.cast(b_.constant(ir::Constant::of(ScalarType::kBool, uint8_t{0})), compute_); }

    ValueId multiply_add(ValueId sum, ValueId x, ValueId y) {
        return b_.apply(OpId::kAdd, {sum, b_.apply(OpId::kMultiply, {x, y})});
    }

    // Steps along k, and of each the tile's rows (or columns).
    ValueId shared(const char* name, uint16_t scope) {
        const int64_t itemsize = DType::of(compute_).itemsize();
        ir::BufferType type;
        type.element = compute_;
        type.space = ir::AddressSpace::kShared;
        type.alias_scope = static_cast<uint16_t>(form_.outputs[0].buffer.alias_scope + scope);
        type.strides = {(kProductTile + kGap) * itemsize, itemsize};
        type.sizes = {kDepth, kProductTile + kGap};
        return b_.allocate(std::move(type), name);
    }

    // Neighbouring threads read neighbours along whichever axis the factor runs in memory.
    void fill(ValueId tile, ValueId factor, ValueId first, ValueId extent, bool is_left, ValueId first_step,
              std::span<const ValueId> thread) {
        const auto& strides = form_.inputs[is_left ? 0 : 1].buffer.strides;
        const bool along_k =
            strides[3] == StrideClass::kItem || strides[is_left ? 1 : 2] != StrideClass::kItem;
        const ValueId step = thread[along_k ? 1 : 0];
        const ValueId k = b_.apply(OpId::kAdd, {first_step, step});
        const ValueId k_inside = b_.apply(OpId::kLess, {k, operands_.k});
        const ValueId nothing =
            b_.cast(b_.constant(ir::Constant::of(ScalarType::kBool, uint8_t{0})), element_);
        for (int64_t i = 0; i < kOwn; ++i) {
            const ValueId offset = b_.apply(OpId::kAdd, {thread[along_k ? 0 : 1], b_.index(i * kSide)});
            const ValueId place = b_.apply(OpId::kAdd, {first, offset});
            const ValueId inside =
                b_.apply(OpId::kLogicalAnd, {k_inside, b_.apply(OpId::kLess, {place, extent})});
            const Values at =
                is_left ? Values{batch_, place, b_.index(0), k} : Values{batch_, b_.index(0), place, k};
            const ValueId value = b_.load_if(factor, at, inside, nothing);
            b_.store(tile, b_.cast(value, compute_), Values{step, offset});
        }
    }

    Values add_up(ValueId left, ValueId right, std::span<const ValueId> thread,
                  std::span<const ValueId> sums) {
        return b_.for_loop(b_.index(0), b_.index(kDepth), b_.index(1), sums,
                           [&](Builder&, std::span<const ValueId> arguments) {
                               std::array<ValueId, kOwn> x, y;
                               for (int64_t i = 0; i < kOwn; ++i) {
                                   const auto at = [&](ValueId own) {
                                       return Values{arguments[0],
                                                     b_.apply(OpId::kAdd, {own, b_.index(i * kSide)})};
                                   };
                                   x[static_cast<size_t>(i)] = b_.load(left, at(thread[0]));
                                   y[static_cast<size_t>(i)] = b_.load(right, at(thread[1]));
                               }
                               Values more;
                               for (size_t i = 0; i < kSums; ++i)
                                   more.push_back(multiply_add(arguments[1 + i], x[i / kOwn], y[i % kOwn]));
                               return more;
                           });
    }

    void store(const Values& sums, std::span<const ValueId> thread) {
        for (size_t i = 0; i < kSums; ++i) {
            const auto place = [&](ValueId first, ValueId own, size_t number) {
                const ValueId offset =
                    b_.apply(OpId::kAdd, {own, b_.index(static_cast<int64_t>(number) * kSide)});
                return b_.apply(OpId::kAdd, {first, offset});
            };
            const ValueId row = place(first_row_, thread[0], i / kOwn);
            const ValueId column = place(first_column_, thread[1], i % kOwn);
            const ValueId inside = b_.apply(
                OpId::kLogicalAnd,
                {b_.apply(OpId::kLess, {row, operands_.m}), b_.apply(OpId::kLess, {column, operands_.n})});
            const Values at{batch_, row, column, b_.index(0)};
            b_.if_else(
                inside,
                [&](Builder&, std::span<const ValueId>) {
                    b_.store(operands_.out, finished(sums[i], at), at);
                    return Values{};
                },
                [](Builder&, std::span<const ValueId>) { return Values{}; });
        }
    }

    ValueId finished(ValueId sum, const Values& place) {
        return operands_.finish(b_.cast(sum, element_), place);
    }

    Builder& b_;
    const KernelForm& form_;
    const ProductOperands& operands_;
    ScalarType element_, compute_;
    ValueId batch_, first_row_, first_column_;
};

}  // namespace

ScalarType product_accumulator(ScalarType element) {
    const DType dtype(element);
    if (dtype.is_bool()) return ScalarType::kInt32;
    if (dtype.is_integer() && dtype.itemsize() < 4) return ScalarType::kInt32;
    return dtype.accumulator().scalar_type();
}

void multiply_tile(Builder& builder, const KernelForm& form, const ProductOperands& operands,
                   std::span<const ValueId> tile, KernelTarget target) {
    TileProduct product(builder, form, operands, tile);
    if (target == KernelTarget::kGpu) {
        product.by_team();
    } else {
        product.in_order();
    }
}

}  // namespace weft
