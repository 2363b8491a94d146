// One run of a group of a plan: its launches, and what is remembered of them. A plan that is kept runs again
// with other addresses and other constants only, so its next run puts those into the arguments of the last
// one's launches and describes no kernel anew.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "execution/kernels/kernel_arguments.h"
#include "execution/kernels/launch.h"
#include "execution/run_group.h"

namespace weft {

// Where an argument comes from that is another one at each run.
struct WordSource {
    enum class Kind : uint8_t { kOperand, kResult, kTemporary, kConstant };
    Kind kind = Kind::kOperand;
    uint32_t word = 0;    // which of the launch's arguments
    uint32_t node = 0;    // of the group; of a temporary, which
    uint32_t number = 0;  // of the node's operand or result
    int64_t offset = 0;   // bytes from the buffer's start
};

// Of a group of a plan that is kept: the launches of each way in which it can run (in place or not).
class LaunchMemo {
public:
    struct Replay {
        PreparedLaunch launch;
        std::vector<WordSource> sources;
    };
    struct Way {
        std::vector<std::shared_ptr<const StoredKernel>>
            kernels;  // in order, also where the rest is not kept
        std::vector<Replay> launches;
        std::vector<int64_t> temporaries;  // bytes of each
        bool complete = false;
    };

    Way& way(size_t number) {
        if (ways_.size() <= number) ways_.resize(number + 1);
        return ways_[number];
    }

private:
    std::vector<Way> ways_;
};

class GroupRun {
public:
    // `results`: where the group's kernels write. `way` tells apart the ways in which the group can run.
    GroupRun(const Group& group, const GroupBuffers& results, size_t way = 0);

    // Whether a run of this way is remembered.
    static bool is_known(const Group& group, size_t way) {
        return group.memo && group.memo->way(way).complete;
    }
    // Launches what the last run of this way launched; false, with nothing done, when that is not known.
    bool replay();

    // Memory until the run is over.
    const BufferPtr& temporary(int64_t bytes);
    // Over `extents`: the grid first, then reduced dimensions. `counted` is what the history says of elements
    // and bytes.
    void launch(const KernelParts& parts, const Dims& extents, const Dims& counted);
    void launch(const KernelParts& parts, const Dims& extents) { launch(parts, extents, extents); }
    // Several launches of one piece of work: where one of them cannot be made, none has run.
    struct Part {
        const KernelParts* parts;
        Dims extents;
    };
    void launch_all(std::span<const Part> all);
    // On a GPU, two kernels in one launch: the second, over `second_extents`, is the first's form's `then`.
    void launch(const KernelParts& parts, const Dims& extents, const Dims& counted, const KernelParts& second,
                const Dims& second_extents);
    // The kernel of the next launch, which the caller does itself: such a run is not repeated.
    std::shared_ptr<const StoredKernel> kernel(const KernelForm& form, bool& fresh);
    // What was launched depended on values, or there was other work between launches.
    void cannot_repeat() { repeats_ = false; }
    // All was launched.
    void finish();

private:
    struct Waiting {
        PreparedLaunch launch;
        bool fresh = false;
    };
    Waiting wait(const KernelParts& parts, const Dims& extents, const Dims& counted);
    void run_and_keep(std::span<Waiting> waiting);
    bool find_source(const WordOrigin& origin, WordSource& source) const;
    void set_word(const WordSource& source, std::vector<ArgumentWord>& words) const;
    std::shared_ptr<const StoredKernel> find_kernel(const KernelForm& form, bool& fresh,
                                                    bool for_few = false);

    const Group& group_;
    const GroupBuffers& results_;
    LaunchMemo::Way* way_ = nullptr;  // none where the plan is not kept
    std::vector<BufferPtr> temporaries_;
    size_t kernels_ = 0;  // of this run so far
    bool repeats_ = true;
};

}  // namespace weft
