#include "random/ziggurat_runs.h"

#include <vector>

#include "core/processor.h"
#include "random/ziggurat.h"

namespace weft {

namespace {

template <class Method>
size_t run(const typename Method::Unit* units, size_t count, typename Method::Value* out) {
    size_t i = 0;
    while (i < count && Method::takes(units[i], out[i])) ++i;
    return i;
}

constexpr ZigguratRuns kOneByOne = {run<Normal>, run<Exponential>, run<Normal32>, run<Exponential32>};

}  // namespace

std::span<const ZigguratRuns> all_ziggurat_runs() {
    static const std::vector<ZigguratRuns> runs = [] {
        std::vector<ZigguratRuns> result = {kOneByOne};
#if defined(__x86_64__)
        if (processor_level() == ProcessorLevel::kX86V4) result.push_back(ziggurat_runs_in_lanes());
#endif
        return result;
    }();
    return runs;
}

const ZigguratRuns& ziggurat_runs() { return all_ziggurat_runs().back(); }

}  // namespace weft
