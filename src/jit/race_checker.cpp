#include "jit/race_checker.h"

#include <algorithm>
#include <cstring>

namespace weft::jit {

namespace {

constexpr size_t kMostReads = 4;
constexpr int64_t kWarp = 32;

int64_t number_at(const char* payload, size_t place) {
    int64_t value = 0;
    std::memcpy(&value, payload + 16 * place, sizeof(value));
    return value;
}

std::string what_of(const lang::Site& site) {
    switch (site.event) {
        case lang::ThreadEvent::kRead: return "reads";
        case lang::ThreadEvent::kWrite: return "writes";
        default: return "updates";
    }
}

std::string line_of(const lang::Site& site) {
    const int line = site.function->tree.place(site.node).line;
    std::string text = "line " + std::to_string(line);
    const auto at = static_cast<size_t>(line - site.function->first_line);
    if (at < site.function->lines.size()) {
        const std::string& source = site.function->lines[at];
        const size_t first = source.find_first_not_of(' ');
        if (first != std::string::npos) text += ", `" + source.substr(first) + "`";
    }
    return text;
}

}  // namespace

bool RaceChecker::hear(const lang::Site& site, const char* payload) {
    using lang::ThreadEvent;
    if (!race_.empty()) return false;
    const auto numbers = static_cast<size_t>(site.payload) - 6;
    const auto linear = [&](size_t first, const std::array<int64_t, 3>& sizes) {
        return (number_at(payload, first + 2) * sizes[1] + number_at(payload, first + 1)) * sizes[0] +
               number_at(payload, first);
    };
    const Thread by{linear(numbers + 3, grid_), linear(numbers, block_)};
    if (by.block != current_) enter_block(by.block);
    ++time_;
    const auto thread = static_cast<size_t>(by.thread);
    switch (site.event) {
        case ThreadEvent::kBlockMeeting: ++epochs_[thread]; return true;
        case ThreadEvent::kWarpMeeting: ++warp_epochs_[thread]; return true;
        case ThreadEvent::kFence: fences_[thread] = Release{by, epochs_[thread], time_}; return true;
        default: return access(site, payload, by);
    }
}

// Blocks run one after another, and what a block's memory held is nobody's afterwards.
void RaceChecker::enter_block(int64_t block) {
    current_ = block;
    const auto threads = static_cast<size_t>(block_[0] * block_[1] * block_[2]);
    epochs_.assign(threads, 0);
    warp_epochs_.assign(threads, 0);
    fences_.assign(threads, std::nullopt);
    of_block_.clear();
    acquired_.clear();
}

bool RaceChecker::access(const lang::Site& site, const char* payload, const Thread& by) {
    const auto address = static_cast<uint64_t>(number_at(payload, 0));
    const auto bytes = static_cast<size_t>(number_at(payload, 1));
    const bool is_of_block = number_at(payload, 2) != 0;
    const auto thread = static_cast<size_t>(by.thread);
    const bool is_atomic = site.event == lang::ThreadEvent::kAtomic;
    const Access now{by, epochs_[thread], warp_epochs_[thread], time_, &site, is_atomic};
    Cell& cell = (is_of_block ? of_block_ : global_)[address];
    const auto races_with = [&](const Access& before) {
        return !(before.is_atomic && is_atomic) && !is_ordered(before, now);
    };
    if (is_atomic) hand_over(address, now);
    if (site.event == lang::ThreadEvent::kRead) {
        if (cell.write && races_with(*cell.write)) return report(*cell.write, now);
        const auto same = std::find_if(cell.reads.begin(), cell.reads.end(), [&](const Access& read) {
            return read.by.block == by.block && read.by.thread == by.thread;
        });
        if (same != cell.reads.end()) {
            *same = now;
        } else {
            if (cell.reads.size() >= kMostReads) cell.reads.erase(cell.reads.begin());
            cell.reads.push_back(now);
        }
        return true;
    }
    std::array<char, 16> value{};
    if (site.event == lang::ThreadEvent::kWrite) std::memcpy(value.data(), payload + 16 * 3, bytes);
    const bool is_same = cell.write && site.event == lang::ThreadEvent::kWrite && !cell.write->is_atomic &&
                         value == cell.value;
    if (cell.write && !is_same && races_with(*cell.write)) return report(*cell.write, now);
    for (const Access& read : cell.reads) {
        if (races_with(read)) return report(read, now);
    }
    cell.write = now;
    cell.value = value;
    cell.reads.clear();
    return true;
}

bool RaceChecker::is_ordered(const Access& before, const Access& now) const {
    if (before.by.block == now.by.block) {
        if (before.by.thread == now.by.thread || before.epoch < now.epoch) return true;
        if (before.by.thread / kWarp == now.by.thread / kWarp && before.warp_epoch < now.warp_epoch)
            return true;
    }
    return std::any_of(acquired_.begin(), acquired_.end(), [&](const Acquired& acquired) {
        const Release& release = acquired.release;
        if (release.by.block != before.by.block) return false;
        if (acquired.thread != now.by.thread && acquired.epoch >= now.epoch) return false;
        return before.epoch < release.epoch ||
               (release.by.thread == before.by.thread && before.time < release.time);
    });
}

// An atomic operation takes what others have released there, and releases what its thread has fenced.
void RaceChecker::hand_over(uint64_t address, const Access& now) {
    auto& released = released_[address];
    for (const auto& [by, release] : released) {
        if (by.first == now.by.block && by.second == now.by.thread) continue;
        acquired_.push_back({release, now.by.thread, now.epoch});
    }
    const std::optional<Release>& fence = fences_[static_cast<size_t>(now.by.thread)];
    if (!fence) return;
    released[{now.by.block, now.by.thread}] = *fence;
    for (const Acquired& acquired : acquired_) {
        const bool knows = acquired.thread == now.by.thread || acquired.epoch < now.epoch;
        if (knows)
            released.try_emplace({acquired.release.by.block, acquired.release.by.thread}, acquired.release);
    }
}

bool RaceChecker::report(const Access& before, const Access& now) {
    race_ = place_of(now.by) + " " + what_of(*now.site) + " in " + line_of(*now.site) + "\nwhat " +
            place_of(before.by) + " " + what_of(*before.site) + " in " + line_of(*before.site) +
            "\nand nothing orders the two";
    race_ += now.by.block == before.by.block
                 ? ": no barrier is between them."
                 : ": blocks have no order but by a fence and an atomic operation that the other one sees.";
    return false;
}

std::string RaceChecker::place_of(const Thread& thread) const {
    const auto axes = [](int64_t number, const std::array<int64_t, 3>& sizes) {
        return "(" + std::to_string(number % sizes[0]) + ", " + std::to_string(number / sizes[0] % sizes[1]) +
               ", " + std::to_string(number / sizes[0] / sizes[1]) + ")";
    };
    return "thread " + axes(thread.thread, block_) + " of block " + axes(thread.block, grid_);
}

}  // namespace weft::jit
