#include "ir/race_detector.h"

namespace weft::ir {

bool RaceDetector::conflicts(const Record& record, const AccessOrigin& origin) {
    if (!record.any) return false;
    if (record.several_points || record.origin.point != origin.point) return true;
    if (record.origin.epoch != origin.epoch) return false;
    return record.several_threads || record.origin.thread != origin.thread;
}

void RaceDetector::note(Record& record, const AccessOrigin& origin) {
    if (record.any) {
        if (record.origin.point != origin.point) record.several_points = true;
        bool same_epoch = record.origin.epoch == origin.epoch;
        record.several_threads =
            same_epoch && (record.several_threads || record.origin.thread != origin.thread);
    }
    record.any = true;
    record.origin = origin;
}

bool RaceDetector::access(const char* address, int64_t size, AccessKind kind, const AccessOrigin& origin) {
    bool ordered = true;
    for (int64_t i = 0; i < size; i++) {
        Byte& byte = bytes_[address + i];
        bool races = conflicts(byte.write, origin);
        if (kind != AccessKind::kRead) races |= conflicts(byte.read, origin);
        if (kind != AccessKind::kAtomic) races |= conflicts(byte.atomic, origin);
        ordered &= !races;
        switch (kind) {
            case AccessKind::kRead: note(byte.read, origin); break;
            case AccessKind::kWrite: note(byte.write, origin); break;
            case AccessKind::kAtomic: note(byte.atomic, origin); break;
        }
    }
    return ordered;
}

void RaceDetector::forget(const char* address, int64_t size) {
    for (int64_t i = 0; i < size; i++) bytes_.erase(address + i);
}

}  // namespace weft::ir
