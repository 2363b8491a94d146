#include "core/float_errors.h"

namespace weft {

std::atomic<int> float_error_contexts{0};

namespace {
std::atomic<FloatErrorListener*> the_listener{nullptr};
thread_local int scalar_operations = 0;
}  // namespace

void set_float_error_listener(FloatErrorListener* listener) { the_listener = listener; }
FloatErrorListener* float_error_listener() { return the_listener; }

ScalarOperation::ScalarOperation(bool is_one) : is_one_(is_one) {
    if (is_one_) ++scalar_operations;
}
ScalarOperation::~ScalarOperation() {
    if (is_one_) --scalar_operations;
}
bool ScalarOperation::is_current() { return scalar_operations != 0; }

}  // namespace weft
