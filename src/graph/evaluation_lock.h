// One evaluation at a time: it may reuse memory in place only because nobody else plans over the same nodes.
// The lock is recursive, and outlives a fork.
#pragma once

#include <functional>

#include "core/threads/fork.h"

namespace weft {

class EvaluationLock {
public:
    EvaluationLock();
    EvaluationLock(const EvaluationLock&) = delete;
    EvaluationLock& operator=(const EvaluationLock&) = delete;
    ~EvaluationLock();

private:
    const ForkExclusion exclusion_;
};

// By a thread that never goes on, in a place where fork() may happen too (core/threads/fork.h): what it did
// not come to is still pending, and others may evaluate.
void abandon_evaluation();

// Runs `look` while nobody evaluates, so that pending nodes keep their inputs meanwhile; false, without
// having run it, when another thread evaluates.
bool inspect(const std::function<void()>& look);

}  // namespace weft
