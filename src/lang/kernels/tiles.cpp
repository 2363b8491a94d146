// A launch whose threads neither wait for each other nor have memory in common: loops over all of them, cut
// into tiles that run at the same time.
#include <algorithm>

#include "lang/kernels/kernels.h"
#include "lang/kernels/launch.h"
#include "lang/parallel/outline.h"

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr size_t kAxes = 3;
constexpr int64_t kTiles = 256;  // about as many; a row is cut into pieces where rows are fewer
constexpr int64_t kLeastThreads = 64;
constexpr int64_t kLeastWithSteps = 1024;  // where each goes over memory in steps of the grid's size
constexpr int64_t kMostWithLoops =
    256;  // a launch is asked to stop between tiles, which take their time then

}  // namespace

FunctionLowering::Kernels::Tiles FunctionLowering::Kernels::cut(const ThreadUses& uses,
                                                                const std::array<ValueId, 3>& grid,
                                                                const std::array<ValueId, 3>& block) {
    Tiles tiles{};
    const auto& side_by_side = uses.side_by_side;
    const auto inner = static_cast<size_t>(std::ranges::max_element(side_by_side) - side_by_side.begin());
    tiles.order = {inner, inner == 0 ? size_t{1} : 0, inner == 2 ? size_t{1} : 2};
    ValueId rows = index(1);
    for (size_t axis = 0; axis < kAxes; ++axis) {
        const bool across = tiles.across[axis] = !uses.apart[axis];
        const ValueId all = across ? f_.apply(OpId::kMultiply, {grid[axis], block[axis]}) : block[axis];
        tiles.extents[axis] = all;
        tiles.sizes[axis] = across ? index(1) : all;
        tiles.counts[axis] = across ? all : grid[axis];
        if (axis != inner) rows = f_.apply(OpId::kMultiply, {rows, tiles.counts[axis]});
    }
    if (!tiles.across[inner]) return tiles;
    const auto divided_up = [&](ValueId number, ValueId by) {
        return f_.apply(OpId::kFloorDivide,
                        {f_.apply(OpId::kAdd, {number, f_.apply(OpId::kSubtract, {by, index(1)})}), by});
    };
    const ValueId pieces = divided_up(index(kTiles), rows);
    const ValueId least = index(uses.grid_size ? kLeastWithSteps : kLeastThreads);
    const ValueId length = divided_up(divided_up(tiles.extents[inner], pieces), least);
    tiles.sizes[inner] = f_.apply(OpId::kMultiply, {length, least});
    if (uses.loops && !uses.grid_size)
        tiles.sizes[inner] = f_.apply(OpId::kMinimum, {tiles.sizes[inner], index(kMostWithLoops)});
    tiles.counts[inner] = divided_up(tiles.extents[inner], tiles.sizes[inner]);
    return tiles;
}

// One tile. Of an axis across blocks a thread's place in the grid is its number in the one block that there
// seems to be, which is the same for those who only ask for the place.
void FunctionLowering::Kernels::run_tile(const Launch& launch, const Tiles& tiles) {
    std::array<ValueId, kAxes> thread{}, lower{}, upper{};
    std::array<ValueId, kAxes> blocks{};
    ValueId rest = launch.block;
    for (size_t place = 0; place < kAxes; ++place) {
        const size_t axis = tiles.order[place];
        ValueId tile = rest;
        if (place + 1 < kAxes) {
            tile = f_.apply(OpId::kRemainder, {rest, tiles.counts[axis]});
            rest = f_.apply(OpId::kFloorDivide, {rest, tiles.counts[axis]});
        }
        lower[axis] = index(0);
        upper[axis] = tiles.sizes[axis];
        blocks[axis] = tile;
        if (!tiles.across[axis]) continue;
        blocks[axis] = index(0);
        lower[axis] = f_.apply(OpId::kMultiply, {tile, tiles.sizes[axis]});
        upper[axis] = f_.apply(OpId::kMinimum,
                               {f_.apply(OpId::kAdd, {lower[axis], tiles.sizes[axis]}), tiles.extents[axis]});
    }
    std::vector<ValueId> numbers{index(0), index(0), index(0)};
    numbers.insert(numbers.end(), blocks.begin(), blocks.end());
    numbers.insert(numbers.end(), launch.size.begin(), launch.size.end());
    numbers.insert(numbers.end(), launch.grid.begin(), launch.grid.end());
    numbers.insert(numbers.end(), {index(0), index(0)});
    set_place(numbers, {});  // there is no memory of a block
    const int64_t bytes = f_.compilation_.kernel_memory().bytes_of(PlaceArgument::kOwnMemory);
    const std::function<void(size_t)> loop = [&](size_t place) {
        const size_t axis = tiles.order[place];
        const auto body = [&](ir::Builder&, std::span<const ValueId> at) -> std::vector<ValueId> {
            const Nested nested(f_);
            thread[axis] = at[0];
            f_.note(at[0], {0, tiles.across[axis] ? kMostOfGrid : kMostThreadsOfBlock,
                            tiles.across[axis] ? tiles.extents[axis] : launch.size[axis], 0});
            if (place > 0) {
                loop(place - 1);
            } else {
                set_thread(thread);
                const size_t temporaries = f_.temporaries_.size();
                if (bytes > 0) {  // a pass has it on the stack, or allocates it once
                    const ValueId own = index(bytes);
                    set_memory(PlaceArgument::kOwnMemory,
                               f_.borrowed(f_.allocate(ScalarType::kUInt8, std::span(&own, 1), where_,
                                                       kOwnMemoryScope)));
                }
                call_kernel(launch.kernel, launch.arguments);
                f_.end_temporaries(temporaries);
            }
            return {};
        };
        if (place > 0) {
            f_.builder_->for_loop(lower[axis], upper[axis], index(1), {}, body);
        } else {
            f_.builder_->for_lanes(lower[axis], upper[axis], kLanes, body);
        }
    };
    loop(kAxes - 1);
}

}  // namespace weft::lang
