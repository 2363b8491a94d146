#include "compiled/call_record.h"

#include <string>
#include <utility>

#include "core/config.h"
#include "core/log.h"
#include "core/without_failing.h"
#include "execution/kernels/kernel_store.h"
#include "jit/gpu_kernel.h"

namespace weft::python {

void CallRecord::add(Compiled& compiled, const jit::Specialisation& code, const CallArguments& arguments,
                     uint64_t passed) {
    without_failing([&] {
        std::shared_ptr<const StoredKernel>& known =
            &code == compiled.overlap.get() ? compiled.recorded_overlap : compiled.recorded;
        LaunchRecord record;
        record.fresh = known == nullptr && !code.from_disk;
        if (known == nullptr) {
            auto kernel = std::make_shared<StoredKernel>();
            kernel->name = code.name + "()";
            kernel->ir = code.ir;
            kernel->compile_seconds = code.compile_seconds;
            kernel->is_function = true;
            known = std::move(kernel);
        }
        record.kernel = known;
        if (code.gpu != nullptr) record.device = &code.gpu->device;
        record.seconds = seconds_of_ticks(passed);
        for (const Span& span : arguments.spans()) {
            const auto bytes = static_cast<int64_t>(span.end - span.begin);
            record.bytes_read += bytes;
            if (span.parameter < code.written.size() && code.written[span.parameter])
                record.bytes_written += bytes;
        }
        if (debug_enabled(DebugLevel::kLaunches, record.kernel->name))
            log_line("call " + record.kernel->name + ", " +
                     std::to_string(static_cast<int64_t>(record.seconds * 1e6)) + " us");
        const ProfiledCall call;
        record_launch(std::move(record));
    });
}

}  // namespace weft::python
