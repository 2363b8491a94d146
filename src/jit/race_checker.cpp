#include "jit/race_checker.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace weft::jit {

namespace {

constexpr size_t kMostOthers = 8;
constexpr uint64_t kPageBytes = 1024;

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
    const int64_t block = linear(numbers + 3, grid_);
    const auto thread = static_cast<uint32_t>(linear(numbers, block_));
    if (block != current_) enter_block(block);
    ++time_;
    switch (site.event) {
        case ThreadEvent::kBlockMeeting: ++epochs_[thread]; return true;
        case ThreadEvent::kWarpMeeting:
            meet_warp(thread, static_cast<uint32_t>(number_at(payload, 0)));
            return true;
        case ThreadEvent::kFence: fence(thread); return true;
        default: return access(site, payload, thread);
    }
}

// Blocks run one after another, and what a block's memory held is nobody's afterwards.
void RaceChecker::enter_block(int64_t block) {
    current_ = block;
    const auto threads = static_cast<size_t>(block_[0] * block_[1] * block_[2]);
    epochs_.assign(threads, 0);
    lanes_.assign(threads, Lanes{});
    lanes_at_fences_.assign(threads, nullptr);
    meetings_.clear();
    of_block_.clear();
    acquired_.clear();
}

// All lanes of the mask have come when the first one tells that it goes on, and none of them has gone
// further.
void RaceChecker::meet_warp(uint32_t thread, uint32_t mask) {
    const uint32_t warp = thread / kWarp, lane = thread % kWarp;
    Meeting& meeting = meetings_[{warp, mask}];
    if (meeting.numbers[lane] == meeting.number) {
        ++meeting.number;
        meeting.known = Lanes{};
        for (uint32_t each = 0; each < kWarp; ++each) {
            const size_t other = warp * kWarp + each;
            if (((mask >> each) & 1U) == 0 || other >= lanes_.size()) continue;
            for (size_t k = 0; k < kWarp; ++k)
                meeting.known[k] = std::max(meeting.known[k], lanes_[other][k]);
            meeting.known[each] = time_;
        }
    }
    meeting.numbers[lane] = meeting.number;
    for (size_t k = 0; k < kWarp; ++k) lanes_[thread][k] = std::max(lanes_[thread][k], meeting.known[k]);
}

void RaceChecker::fence(uint32_t thread) {
    const auto [found, is_first] = fences_.try_emplace(current_);
    Fences& fences = found->second;
    if (is_first) fences.threads.resize(epochs_.size());
    const Fence made{time_, epochs_[thread]};
    fences.first_epoch = is_first ? made.epoch : std::min(fences.first_epoch, made.epoch);
    std::vector<Fence>& of_thread = fences.threads[thread];
    if (!of_thread.empty() && of_thread.back().epoch == made.epoch) {
        of_thread.back() = made;
    } else {
        of_thread.push_back(made);
    }
    lanes_at_fences_[thread] =
        lanes_[thread] == Lanes{} ? nullptr : std::make_shared<const Lanes>(lanes_[thread]);
}

bool RaceChecker::access(const lang::Site& site, const char* payload, uint32_t thread) {
    using lang::ThreadEvent;
    const auto address = static_cast<uint64_t>(number_at(payload, 0));
    const auto bytes = static_cast<uint64_t>(number_at(payload, 1));
    const bool is_of_block = number_at(payload, 2) != 0;
    const Access now{&site, time_, current_, thread, epochs_[thread]};
    Cell& cell = (is_of_block ? of_block_ : global_).cell(address, bytes);
    if (site.event == ThreadEvent::kRead) {
        for (const Accesses* each : {&cell.writes, &cell.updates}) {
            if (const Access* before = racing(*each, now)) return report(*before, now);
        }
        keep(cell.reads, now);
        return true;
    }
    if (site.event == ThreadEvent::kAtomic) {
        hand_over(address, now);
        for (const Accesses* each : {&cell.writes, &cell.reads}) {
            if (const Access* before = racing(*each, now)) return report(*before, now);
        }
        cell.reads = Accesses{};
        cell.writes = Accesses{};
        keep(cell.updates, now);
        return true;
    }
    std::array<char, 16> value{};
    std::memcpy(value.data(), payload + 16 * 3, bytes);
    const bool is_same = cell.writes.last.site != nullptr && value == cell.value;
    for (const Accesses* each : {&cell.writes, &cell.updates, &cell.reads}) {
        if (each == &cell.writes && is_same) continue;
        if (const Access* before = racing(*each, now)) return report(*before, now);
    }
    if (!is_same) cell.writes = Accesses{};
    cell.reads = Accesses{};
    cell.updates = Accesses{};
    cell.value = value;
    keep(cell.writes, now);
    return true;
}

const RaceChecker::Access* RaceChecker::racing(const Accesses& before, const Access& now) const {
    if (before.last.site == nullptr) return nullptr;
    if (!is_ordered(before.last, now)) return &before.last;
    if (before.others == nullptr) return nullptr;
    for (const Access& each : *before.others) {
        if (!is_ordered(each, now)) return &each;
    }
    return nullptr;
}

// Of a block two accesses are enough beside the last one, of different warps if there are: what comes later
// is ordered behind all of its accesses between two barriers, or else not behind one of these.
void RaceChecker::keep(Accesses& accesses, const Access& now) const {
    const Access before = std::exchange(accesses.last, now);
    if (before.site == nullptr || is_ordered(before, now)) return;
    if (accesses.others == nullptr) accesses.others = std::make_unique<std::vector<Access>>();
    std::vector<Access>& others = *accesses.others;
    Access *of_block = nullptr, *of_warp = nullptr;
    size_t count = 0;
    for (Access& each : others) {
        if (each.block != before.block) continue;
        ++count;
        if (each.thread / kWarp == before.thread / kWarp) of_warp = &each;
        if (of_block == nullptr || each.time < of_block->time) of_block = &each;
    }
    if (count >= 2) {
        *(of_warp != nullptr ? of_warp : of_block) = before;
        return;
    }
    if (others.size() >= kMostOthers) others.erase(others.begin() + 2);  // those of the first block stay
    others.push_back(before);
}

bool RaceChecker::is_ordered(const Access& before, const Access& now) const {
    if (before.block == now.block) {
        if (before.thread == now.thread || before.epoch < now.epoch) return true;
        if (before.thread / kWarp == now.thread / kWarp &&
            before.time < lanes_[now.thread][before.thread % kWarp])
            return true;
    }
    return !acquired_.empty() && is_handed_over(before, now);
}

bool RaceChecker::knows(const Acquired& acquired, uint32_t thread, uint32_t epoch) const {
    return acquired.thread == thread || acquired.epoch < epoch ||
           (acquired.thread / kWarp == thread / kWarp &&
            acquired.time < lanes_[thread][acquired.thread % kWarp]);
}

bool RaceChecker::is_handed_over(const Access& before, const Access& now) const {
    std::vector<Part> parts;
    const auto add = [&](const Part& part) {
        for (Part& each : parts) {
            if (each.place == part.place && each.count >= part.count) return;
        }
        parts.push_back(part);
    };
    for (const Acquired& each : acquired_) {
        if (knows(each, now.thread, now.epoch)) add(each.part);
    }
    for (size_t at = 0; at < parts.size(); ++at) {
        const Part part = parts[at];
        const auto found = part.place->of_block.find(before.block);
        if (found != part.place->of_block.end()) {
            const size_t end = std::min(found->second.second, part.count);
            for (size_t i = found->second.first; i < end; ++i) {
                if (is_released(before, part.place->releases[i])) return true;
            }
        }
        for (const auto& [release, link] : part.place->links) {
            if (release < part.count) add(link);
        }
    }
    return false;
}

// By a fence of the thread that releases, or by one of the access's own thread and a barrier.
bool RaceChecker::is_released(const Access& before, const Release& release) const {
    if (release.fence.time != 0) {
        if (before.epoch < release.fence.epoch || before.time == release.time) return true;
        if (before.thread == release.thread && before.time < release.fence.time) return true;
        if (release.lanes != nullptr && before.thread / kWarp == release.thread / kWarp &&
            before.time < (*release.lanes)[before.thread % kWarp])
            return true;
    }
    const auto found = fences_.find(before.block);
    if (found == fences_.end()) return false;
    const std::vector<Fence>& fences = found->second.threads[before.thread];
    return std::any_of(fences.begin(), fences.end(), [&](const Fence& each) {
        return each.time > before.time && each.epoch < release.epoch;
    });
}

// An atomic operation takes what others have released there, and releases what fences have made ready.
void RaceChecker::hand_over(uint64_t address, const Access& now) {
    Place& place = places_[address];
    if (!place.releases.empty()) {
        const Acquired acquired{{&place, place.releases.size()}, now.thread, now.epoch, now.time};
        const auto same = std::find_if(acquired_.rbegin(), acquired_.rend(), [&](const Acquired& each) {
            return each.thread == now.thread && each.epoch == now.epoch && each.part.place == &place;
        });
        if (same == acquired_.rend()) {
            acquired_.push_back(acquired);
        } else if (same->part.count != acquired.part.count) {
            *same = acquired;
        }
    }
    const auto found = fences_.find(now.block);
    if (found == fences_.end()) return;
    const std::vector<Fence>& own = found->second.threads[now.thread];
    if (own.empty() && found->second.first_epoch >= now.epoch) return;
    const size_t number = place.releases.size();
    place.releases.push_back({now.block, now.thread, now.epoch, now.time, own.empty() ? Fence{} : own.back(),
                              lanes_at_fences_[now.thread]});
    const auto [range, is_first] = place.of_block.try_emplace(now.block, number, number + 1);
    if (!is_first) range->second.second = number + 1;
    for (const Acquired& each : acquired_) {
        if (each.part.place == &place || !knows(each, now.thread, now.epoch)) continue;
        const bool is_there = std::any_of(place.links.begin(), place.links.end(), [&](const auto& link) {
            return link.second.place == each.part.place && link.second.count >= each.part.count;
        });
        if (!is_there) place.links.emplace_back(number, each.part);
    }
}

bool RaceChecker::report(const Access& before, const Access& now) {
    race_ = place_of(now) + " " + what_of(*now.site) + " in " + line_of(*now.site) + "\nwhat " +
            place_of(before) + " " + what_of(*before.site) + " in " + line_of(*before.site) +
            "\nand nothing orders the two";
    race_ += now.block == before.block
                 ? ": no barrier is between them."
                 : ": blocks have no order but by a fence and an atomic operation that the other one sees.";
    return false;
}

std::string RaceChecker::place_of(const Access& access) const {
    const auto axes = [](int64_t number, const std::array<int64_t, 3>& sizes) {
        return "(" + std::to_string(number % sizes[0]) + ", " + std::to_string(number / sizes[0] % sizes[1]) +
               ", " + std::to_string(number / sizes[0] / sizes[1]) + ")";
    };
    return "thread " + axes(access.thread, block_) + " of block " + axes(access.block, grid_);
}

void RaceChecker::Pages::clear() {
    all.clear();
    recent = {};
}

RaceChecker::Cell& RaceChecker::Pages::cell(uint64_t address, uint64_t bytes) {
    const uint64_t number = address / kPageBytes, offset = address % kPageBytes;
    auto& [recent_number, page] = recent[number % kRecent];
    if (page == nullptr || recent_number != number) {
        recent_number = number;
        page = &all[number];
    }
    const auto shift = static_cast<uint32_t>(std::countr_zero(offset | bytes));
    if (page->cells.empty()) {
        page->shift = shift;
        page->cells.resize(kPageBytes >> shift);
    } else if (shift < page->shift) {
        std::vector<Cell> finer(kPageBytes >> shift);
        for (size_t i = 0; i < page->cells.size(); ++i)
            finer[i << (page->shift - shift)] = std::move(page->cells[i]);
        page->cells = std::move(finer);
        page->shift = shift;
    }
    return page->cells[offset >> page->shift];
}

}  // namespace weft::jit
