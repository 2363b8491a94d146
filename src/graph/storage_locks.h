// Locks several storages in order of address, each once, for work at once over their buffers.
#pragma once

#include <algorithm>
#include <array>

#include "graph/storage.h"

namespace weft {

class StorageLocks {
public:
    StorageLocks() = default;
    StorageLocks(const StorageLocks&) = delete;
    StorageLocks& operator=(const StorageLocks&) = delete;
    ~StorageLocks() {
        for (size_t i = held_; i-- > 0;) storages_[i]->mutex.unlock();
    }

    void add(Storage& storage) {
        for (size_t i = 0; i < count_; ++i) {
            if (storages_[i] == &storage) return;
        }
        storages_[count_++] = &storage;
    }
    void lock() {
        std::sort(storages_.begin(), storages_.begin() + static_cast<std::ptrdiff_t>(count_), std::less<>());
        for (; held_ < count_; ++held_) storages_[held_]->mutex.lock();
    }
    // Settles all versions; whether every one is in memory.
    bool all_in_memory() {
        bool all = true;
        for (size_t i = 0; i < count_; ++i) {
            storages_[i]->current.settle();
            all &= storages_[i]->current.in_memory();
        }
        return all;
    }

private:
    static constexpr size_t kMost = 16;
    std::array<Storage*, kMost> storages_{};
    size_t count_ = 0, held_ = 0;
};

}  // namespace weft
