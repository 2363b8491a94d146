// A function that runs beside the one that is being lowered, for chunks of a loop's iterations.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/lowering.h"

namespace weft::lang {

inline constexpr int64_t kLanes = 16;  // that step together, or have sums of their own
inline constexpr int64_t kLanesWithoutSums = 256;

// What a function that runs beside is lowered with.
struct FunctionLowering::Outline {
    ir::Builder builder;
    std::vector<ir::ValueId> arguments{};  // of the function around it
    std::unordered_map<uint32_t, ir::ValueId> inner{};
    std::vector<std::pair<ir::ValueId, ir::ValueId>> passed{};  // of both, in order

    explicit Outline(const std::string& name) : builder(name) {}
};

// Checks of divisions in a loop of lanes, which are no exits: a bit each in an array with an element a lane,
// looked at behind the loop, and before anything that leaves it.
struct FunctionLowering::Deferred {
    ir::ValueId array, lane;
    std::vector<std::pair<NodeId, uint32_t>> sites{};  // by bit: where, and the number
};

// Where the chunks leave what they come to for a variable: an array for each part of it.
struct FunctionLowering::Partial {
    const CarriedVariable* carried;
    TypeRef type;
    std::vector<Value> arrays{};
};

// A parallel loop with nothing but a loop in it, of which chunks are cut, too: a row, an iteration of the
// outer loop, is cut into pieces of the inner one.
struct FunctionLowering::Nest {
    NodeId outer = 0, inner = 0;
    bool declared = false;  // the inner one is over prange itself
    Value range{};          // of the inner one
    ir::ValueId count{};    // of its iterations
    ir::ValueId pieces{}, length{};
    // In the chunk's function.
    const ParallelLoop* plan = nullptr;
    ir::ValueId start{};       // of the outer range
    ir::ValueId from{}, to{};  // the chunk's pieces
};

// While one lives, what is lowered goes into a function beside the one that is being lowered.
class FunctionLowering::Beside {
public:
    Beside(FunctionLowering& lowering, ir::Builder& builder)
        : lowering_(lowering),
          builder_(std::exchange(lowering.builder_, &builder)),
          known_(std::exchange(lowering.known_, {})),
          temporaries_(std::exchange(lowering.temporaries_, {})),
          loops_(std::exchange(lowering.loops_, {})),
          hoist_(std::exchange(lowering.hoist_, nullptr)),
          is_second_(std::exchange(lowering.is_second_, false)),
          deferred_(std::exchange(lowering.deferred_, nullptr)),
          now_(std::exchange(lowering.now_, nullptr)),
          handling_(std::exchange(lowering.handling_, {})) {}
    ~Beside() {
        lowering_.builder_ = builder_;
        lowering_.known_ = std::move(known_);
        lowering_.temporaries_ = std::move(temporaries_);
        lowering_.loops_ = std::move(loops_);
        lowering_.hoist_ = hoist_;
        lowering_.is_second_ = is_second_;
        lowering_.deferred_ = deferred_;
        lowering_.now_ = now_;
        lowering_.handling_ = std::move(handling_);
    }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;

    // Of the function around.
    const Known& known() const { return known_; }

private:
    FunctionLowering& lowering_;
    ir::Builder* builder_;
    Known known_;
    std::vector<Value> temporaries_;
    std::vector<Loop*> loops_;
    Hoist* hoist_;
    bool is_second_;
    Deferred* deferred_;
    Environment* now_;
    std::vector<Handling> handling_;
};

}  // namespace weft::lang
