// A storage: bytes that views share, with the version of them that is current. Reading takes the current
// version; writing makes a new one (api/recording/record.h). While memory is exported the version is
// pinned in its buffer.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "core/threads/short_lock.h"
#include "graph/node.h"

namespace weft {

// What an inspection of a view found: its integers lie in [low, high]. See graph/index_range.h.
struct KnownRange {
    DType dtype;
    int64_t low, high;
    bool whole;  // the view is the whole storage
    Dims shape, strides;
    int64_t offset;
};

// Work on one version of a storage that is kept for the next who asks for it (api/linalg/kept_factors.h).
class KeptWork {
public:
    virtual ~KeptWork() = default;
};

class Storage {
public:
    Storage(Source version, int64_t bytes)
        : device(version.device()), current(std::move(version)), bytes(bytes) {}
    explicit Storage(BufferPtr buffer)
        : device(buffer->device()), bytes(static_cast<int64_t>(buffer->size())) {
        current.buffer = std::move(buffer);
    }

    DeviceBackend& device;  // for as long as it lives

    ShortLock mutex;  // guards the members below; taken in order of address when several are needed
    Source current;
    int64_t bytes = 0;
    // HostViews alive: operations run eagerly and in place. Written under the lock; see MemoryPin.
    std::atomic<int> pins = 0;
    bool foreign = false;  // memory of somebody else: always written in place
    bool readonly = false;

    // Of the current version: whoever writes forgets them, under the lock.
    std::unique_ptr<const KnownRange> known;
    std::shared_ptr<KeptWork> kept;
    void forget() {
        known.reset();
        kept.reset();
    }

    bool exported() const { return pins.load(std::memory_order_relaxed) > 0 || foreign; }
};

// The current version, resolved. Takes the storage's lock.
Source current_version(Storage& storage);

}  // namespace weft
