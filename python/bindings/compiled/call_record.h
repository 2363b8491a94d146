// Calls of compiled functions, among the work that weft.kernel_history() and weft.profile() tell of.
#pragma once

#include <cstdint>

#include "compiled/arguments.h"
#include "compiled/running.h"
#include "compiled/ticks.h"
#include "execution/profile.h"
#include "jit/specialisation.h"

namespace weft::python {

/// One call, from here to `end`. Short ones are told of only while somebody profiles, since it would be seen
/// in their time.
class CallRecord {
public:
    CallRecord() : begin_(ticks()) {}

    /// Behind the call, with the GIL.
    void end(Compiled& compiled, const jit::Specialisation& code, const CallArguments& arguments) const {
        const uint64_t passed = ticks() - begin_;
        const bool is_first = code.gpu != nullptr && compiled.calls == 1;  // launches are always short
        if (passed >= kLeastTicks || is_first || profiling()) [[unlikely]]
            add(compiled, code, arguments, passed);
    }

private:
    static constexpr uint64_t kLeastTicks = 50'000;  // ten to thirty microseconds

    static void add(Compiled& compiled, const jit::Specialisation& code, const CallArguments& arguments,
                    uint64_t passed);

    uint64_t begin_;
};

}  // namespace weft::python
