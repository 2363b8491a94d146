// Finds accesses that the memory model leaves unordered; the scalar oracle asks it about each one.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace weft::ir {

// Who touches memory: a point of the grid, a thread of its block, and how many barriers that block has
// passed.
struct AccessOrigin {
    int64_t point = -1;  // -1: outside of any grid
    int64_t thread = -1;
    int64_t epoch = 0;
};

enum class AccessKind : uint8_t { kRead, kWrite, kAtomic };

class RaceDetector {
public:
    // Returns false if the access races with an earlier one.
    bool access(const char* address, int64_t size, AccessKind kind, const AccessOrigin& origin);
    void forget_all() { bytes_.clear(); }            // everything before is ordered with everything after
    void forget(const char* address, int64_t size);  // memory that was given back

private:
    // The last access of each kind. One reader stands for many: `several` keeps that there was another
    // thread.
    struct Record {
        AccessOrigin origin;
        bool any = false;
        bool several_points = false;
        bool several_threads = false;  // of one point and epoch
    };
    struct Byte {
        Record read, write, atomic;
    };
    static bool conflicts(const Record& record, const AccessOrigin& origin);
    static void note(Record& record, const AccessOrigin& origin);

    std::unordered_map<const char*, Byte> bytes_;
};

}  // namespace weft::ir
