// A function that runs beside the one that is being lowered, for chunks of a loop's iterations.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/lowering.h"

namespace weft::lang {

// What a function that runs beside is lowered with.
struct FunctionLowering::Outline {
    ir::Builder builder;
    std::vector<ir::ValueId> arguments{};  // of the function around it
    std::unordered_map<uint32_t, ir::ValueId> inner{};
    std::vector<std::pair<ir::ValueId, ir::ValueId>> passed{};  // of both, in order

    explicit Outline(const std::string& name) : builder(name) {}
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
