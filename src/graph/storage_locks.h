// Locks several storages in order of address, each once, for eager work over their buffers.
#pragma once

#include <array>
#include <functional>
#include <utility>

#include "graph/storage.h"

namespace weft {

class StorageLocks {
public:
    static constexpr size_t kMost = 16;

    StorageLocks() = default;
    StorageLocks(const StorageLocks&) = delete;
    StorageLocks& operator=(const StorageLocks&) = delete;
    ~StorageLocks() { unlock(); }

    void add(Storage& storage) {
        for (size_t i = 0; i < count_; ++i) {
            if (storages_[i] == &storage) return;
        }
        storages_[count_++] = &storage;
    }
    void lock() {
        for (size_t i = 1; i < count_; ++i) {
            for (size_t j = i; j > 0 && std::less<>()(storages_[j], storages_[j - 1]); --j)
                std::swap(storages_[j], storages_[j - 1]);
        }
        for (; held_ < count_; ++held_) storages_[held_]->mutex.lock();
    }
    void unlock() {
        for (; held_ > 0; --held_) storages_[held_ - 1]->mutex.unlock();
    }
    // Resolves all versions, and returns whether every one is in the host's memory.
    bool all_host_resident() {
        bool all = true;
        for (size_t i = 0; i < count_; ++i) {
            storages_[i]->current.resolve();
            all &= storages_[i]->current.is_host_resident();
        }
        return all;
    }

private:
    std::array<Storage*, kMost> storages_;  // the first count_
    size_t count_ = 0, held_ = 0;
};

}  // namespace weft
