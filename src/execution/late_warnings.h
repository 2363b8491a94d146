// What a program is to be warned of once values are known, such as a mean whose mask leaves nothing. The
// result stays pending; who computes it computes with it whether there is something to tell, and tells it
// then.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graph/node.h"

namespace weft {

class Storage;

class LateWarning {
public:
    LateWarning() = default;
    LateWarning(const LateWarning&) = delete;
    LateWarning& operator=(const LateWarning&) = delete;
    virtual ~LateWarning() = default;

    virtual void tell() = 0;  // may throw
};

// Tells it when `result`, which is pending, has been computed and `condition`, one bool, is true. Nobody
// hears of a result that is never computed.
void warn_when_computed(const NodePtr& result, std::shared_ptr<Storage> condition,
                        std::shared_ptr<LateWarning> warning);

// Those that an evaluation has to tell of when it is over. Where none waits, which is nearly always, that
// costs the look at one number.
class DueWarnings {
public:
    DueWarnings() = default;
    DueWarnings(const DueWarnings&) = delete;
    DueWarnings& operator=(const DueWarnings&) = delete;
    ~DueWarnings();  // those that were not told of wait again

    // Under the evaluation lock: takes the warnings of what these roots need. The roots to evaluate: theirs,
    // and the conditions.
    std::span<const NodePtr> take(std::span<const NodePtr> roots);
    // After the evaluation, without its lock.
    void tell();

    struct Waiting {
        std::weak_ptr<Node> result;
        const Node* node;
        std::shared_ptr<Storage> condition;
        std::shared_ptr<LateWarning> warning;
    };

private:
    std::vector<Waiting> due_;
    std::vector<NodePtr> roots_;
};

}  // namespace weft
