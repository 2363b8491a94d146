#include "execution/kernels/launch_replay.h"

#include <algorithm>
#include <cstring>

namespace weft {

GroupRun::GroupRun(const Group& group, const GroupBuffers& results, size_t way)
    : group_(group), results_(results) {
    if (!group.memo) return;
    way_ = &group.memo->way(way);
    if (way_->complete) return;
    way_->launches.clear();  // of a run that failed
    way_->temporaries.clear();
}

const BufferPtr& GroupRun::temporary(int64_t bytes) {
    if (way_ != nullptr && !way_->complete) way_->temporaries.push_back(bytes);
    return temporaries_.emplace_back(reserve(group_, bytes));
}

std::shared_ptr<const StoredKernel> GroupRun::find_kernel(const KernelForm& form, bool& fresh, bool for_few) {
    fresh = false;
    if (way_ != nullptr && kernels_ < way_->kernels.size()) return way_->kernels[kernels_++];
    std::shared_ptr<const StoredKernel> found = find_or_compile(form, fresh, for_few);
    if (way_ != nullptr) way_->kernels.push_back(found);
    ++kernels_;
    return found;
}

std::shared_ptr<const StoredKernel> GroupRun::kernel(const KernelForm& form, bool& fresh) {
    cannot_repeat();
    return find_kernel(form, fresh);
}

void GroupRun::launch(const KernelParts& parts, const Dims& extents, const Dims& counted) {
    if (parts.form.grid_rank > kMaxGridDimensions) {
        cannot_repeat();
        launch_collapsed(parts, extents, counted);
        return;
    }
    Waiting waiting = wait(parts, extents, counted);
    run_and_keep({&waiting, 1});
}

void GroupRun::launch_all(std::span<const Part> all) {
    std::vector<Waiting> waiting;
    waiting.reserve(all.size());
    for (const Part& part : all) waiting.push_back(wait(*part.parts, part.extents, part.extents));
    run_and_keep(waiting);
}

void GroupRun::launch(const KernelParts& parts, const Dims& extents, const Dims& counted,
                      const KernelParts& second, const Dims& second_extents) {
    Waiting waiting{prepare(parts, extents, counted, nullptr)};
    append_second(waiting.launch, second, second_extents);
    run_and_keep({&waiting, 1});
}

GroupRun::Waiting GroupRun::wait(const KernelParts& parts, const Dims& extents, const Dims& counted) {
    Waiting waiting;
    const bool on_cpu = group_.device->is_cpu();
    waiting.launch = prepare(parts, extents, counted,
                             on_cpu ? find_kernel(parts.form, waiting.fresh, parts.is_for_few) : nullptr);
    return waiting;
}

void GroupRun::run_and_keep(std::span<Waiting> waiting) {
    repeats_ &= way_ != nullptr;
    std::vector<LaunchMemo::Replay> replays(waiting.size());
    for (size_t j = 0; j < waiting.size(); ++j) {
        const std::vector<WordOrigin>& origins = waiting[j].launch.origins;
        for (size_t k = 0; repeats_ && k < origins.size(); ++k)
            repeats_ = find_source(origins[k], replays[j].sources.emplace_back());
    }
    if (repeats_) way_->launches.reserve(way_->launches.size() + waiting.size());
    // From here on nothing fails but the launches themselves: they may write in place.
    for (size_t j = 0; j < waiting.size(); ++j) {
        PreparedLaunch& launch = waiting[j].launch;
        run_prepared(launch, waiting[j].fresh);
        if (!repeats_) continue;
        launch.origins.clear();
        replays[j].launch = std::move(launch);
        way_->launches.push_back(std::move(replays[j]));
    }
}

bool GroupRun::find_source(const WordOrigin& origin, WordSource& source) const {
    source.word = origin.word;
    source.offset = origin.offset;
    const auto found = [&](WordSource::Kind kind, size_t node, size_t number) {
        source.kind = kind;
        source.node = static_cast<uint32_t>(node);
        source.number = static_cast<uint32_t>(number);
        return true;
    };
    if (origin.consumer != nullptr) {
        const auto node = std::find(group_.nodes.begin(), group_.nodes.end(), origin.consumer);
        return found(WordSource::Kind::kConstant, static_cast<size_t>(node - group_.nodes.begin()),
                     origin.operand);
    }
    for (size_t k = 0; k < results_.size(); ++k) {
        for (size_t r = 0; r < results_[k].size(); ++r) {
            if (results_[k][r].get() == origin.buffer) return found(WordSource::Kind::kResult, k, r);
        }
    }
    for (size_t k = 0; k < temporaries_.size(); ++k) {
        if (temporaries_[k].get() == origin.buffer) return found(WordSource::Kind::kTemporary, k, 0);
    }
    for (size_t k = 0; k < group_.nodes.size(); ++k) {
        const Operands& inputs = group_.nodes[k]->inputs;
        for (size_t n = 0; n < inputs.size(); ++n) {
            if (inputs[n].source.buffer && inputs[n].source.buffer.get() == origin.buffer)
                return found(WordSource::Kind::kOperand, k, n);
        }
    }
    return false;
}

void GroupRun::set_word(const WordSource& source, std::vector<ArgumentWord>& words) const {
    uint64_t address = 0;
    switch (source.kind) {
        case WordSource::Kind::kConstant: {
            const Operand& operand = group_.nodes[source.node]->inputs[source.number];
            std::memcpy(&words[source.word], operand.constant.data(),
                        static_cast<size_t>(operand.dtype.itemsize()));
            return;
        }
        case WordSource::Kind::kOperand:
            address = group_.nodes[source.node]->inputs[source.number].source.buffer->address();
            break;
        case WordSource::Kind::kResult: address = results_[source.node][source.number]->address(); break;
        case WordSource::Kind::kTemporary: address = temporaries_[source.node]->address(); break;
    }
    words[source.word] = address + static_cast<ArgumentWord>(source.offset);
}

bool GroupRun::replay() {
    if (way_ == nullptr || !way_->complete) return false;
    for (const int64_t bytes : way_->temporaries) temporary(bytes);
    for (LaunchMemo::Replay& replay : way_->launches) {
        std::vector<ArgumentWord>& words = replay.launch.words;
        for (const WordSource& source : replay.sources) set_word(source, words);
        bool fresh = false;
        run_prepared(replay.launch, fresh);
    }
    return true;
}

void GroupRun::finish() {
    if (way_ == nullptr || way_->complete) return;
    if (repeats_) {
        way_->complete = true;
    } else {
        way_->launches.clear();
        way_->temporaries.clear();
    }
}

}  // namespace weft
