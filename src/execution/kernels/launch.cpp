#include "execution/kernels/launch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "codegen/service/background_compiler.h"
#include "core/config.h"
#include "core/log.h"
#include "core/shape.h"
#include "core/without_failing.h"
#include "execution/kernels/gpu_kernels.h"
#include "execution/kernels/kernel_store.h"
#include "execution/profile.h"
#include "weft/errors.h"

namespace weft {

namespace {

void append_words(std::vector<ArgumentWord>& words, const BufferUse& use, const BufferForm& form) {
    words.push_back(static_cast<ArgumentWord>(use.base));
    for (size_t d = 0; d < form.strides.size(); ++d) {
        if (form.strides[d] == StrideClass::kDynamic)
            words.push_back(static_cast<ArgumentWord>(use.strides[d]));
    }
    for (size_t d = 0; d < form.computed.size(); ++d) {
        if (form.computed[d] == StrideClass::kDynamic)
            words.push_back(static_cast<ArgumentWord>(use.computed[d]));
    }
}

void append_words(std::vector<ArgumentWord>& words, const ScalarUse& scalar) {
    ArgumentWord parts[2] = {};
    std::memcpy(parts, scalar.bytes.data(), static_cast<size_t>(scalar.dtype.itemsize()));
    words.push_back(parts[0]);
    if (scalar.dtype.itemsize() > 8) words.push_back(parts[1]);
}

int64_t bytes_touched(const BufferUse& use, const Dims& extents) {
    if (use.buffer == nullptr) return 0;
    int64_t elements = 1;
    for (size_t d = 0; d < extents.size() && d < use.strides.size(); ++d) {
        if (use.strides[d] != 0 || !use.computed.empty()) elements *= extents[d];
    }
    return std::min(elements * use.dtype.itemsize(), static_cast<int64_t>(use.buffer->size()));
}

// Views of one buffer that overlap are read once: together they have no more bytes than they span.
int64_t bytes_of_inputs(std::span<const BufferUse> inputs, const Dims& extents) {
    struct Span {
        const Buffer* buffer;
        int64_t touched, first, last;
    };
    std::vector<Span> spans;
    for (const BufferUse& use : inputs) {
        if (use.buffer == nullptr) continue;
        Span span{use.buffer, bytes_touched(use, extents), use.base, use.base + use.dtype.itemsize()};
        for (size_t d = 0; d < extents.size() && d < use.strides.size(); ++d) {
            const int64_t moved = use.strides[d] * (extents[d] - 1);
            (moved < 0 ? span.first : span.last) += moved;
        }
        if (!use.computed.empty()) {  // anywhere
            span.first = static_cast<int64_t>(use.buffer->address());
            span.last = span.first + static_cast<int64_t>(use.buffer->size());
        }
        const auto same = std::find_if(spans.begin(), spans.end(),
                                       [&](const Span& other) { return other.buffer == span.buffer; });
        if (same == spans.end()) {
            spans.push_back(span);
            continue;
        }
        same->touched += span.touched;
        same->first = std::min(same->first, span.first);
        same->last = std::max(same->last, span.last);
    }
    int64_t bytes = 0;
    for (const Span& span : spans) bytes += std::min(span.touched, span.last - span.first);
    return bytes;
}

int64_t cost_of(const KernelForm& form) {
    int64_t cost = 1 + static_cast<int64_t>(form.inputs.size() + form.outputs.size());
    for (const StepForm& step : form.steps) {
        cost += step.kind == StepForm::Kind::kGather ? kGatherCost : step.op == nullptr ? 1 : step.op->cost;
    }
    for (const OutputForm& output : form.outputs) cost += output.positions.empty() ? 0 : kGatherCost;
    return cost;
}

constexpr int64_t kCacheLine = 64;  // bytes
constexpr int64_t kTileSide = 64;
constexpr int64_t kShortRow =
    256;  // elements: so many cache lines stay in the first-level cache by themselves

// Where a buffer runs fastest along another dimension than the last one (a transposed operand), each element
// of a row is on a cache line of its own. Square tiles of these two dimensions use the lines whole.
Dims square_tile(const KernelParts& parts, const Dims& extents) {
    if (parts.form.shape != KernelShape::kElementwise || extents.back() < kShortRow) return {};
    const size_t last = extents.size() - 1;
    const auto across = [&](const BufferUse& use) {
        if (use.position || std::abs(use.strides[last]) < kCacheLine) return last;
        for (size_t d = last; d-- > 0;) {
            const int64_t stride = std::abs(use.strides[d]);
            if (stride != 0 && stride < kCacheLine && extents[d] >= kTileSide) return d;
        }
        return last;
    };
    size_t other = last;
    for (const BufferUse& use : parts.inputs) other = std::min(other, across(use));
    for (const BufferUse& use : parts.outputs) other = std::min(other, across(use));
    if (other == last) return {};
    Dims tile(extents.size());
    for (size_t d = other; d <= last; ++d) tile[d] = d == other || d == last ? kTileSide : 1;
    return tile;
}

// Rows of a reduction over outer dimensions as well come after the kept ones in the grid. Where kept rows are
// neighbours in memory, a tile is all of them for one index of the outer dimensions, so that memory is walked
// in its order.
Dims tile_of_rows(const KernelParts& parts) {
    const KernelForm& form = parts.form;
    if (form.shape != KernelShape::kReduce || form.outer_rank == 0) return {};
    const auto rank = static_cast<size_t>(form.grid_rank);
    const size_t kept = rank - static_cast<size_t>(form.outer_rank) - (form.chunked ? 1 : 0);
    const auto input = std::find_if(parts.inputs.begin(), parts.inputs.end(), [&](const BufferUse& use) {
        return !use.position && use.strides.size() > kept + static_cast<size_t>(form.outer_rank);
    });
    if (input == parts.inputs.end()) return {};
    const int64_t outer = std::abs(input->strides[rank - 1 - (form.chunked ? 1 : 0)]);
    Dims tile(rank);
    bool neighbours = false;
    for (size_t d = 0; d < kept; ++d) {
        tile[d] = std::abs(input->strides[d]) < outer ? 0 : 1;
        neighbours |= tile[d] == 0;
    }
    for (size_t d = kept; d < rank; ++d) tile[d] = d < kept + static_cast<size_t>(form.outer_rank) ? 1 : 0;
    return neighbours ? tile : Dims{};
}

Dims tile_of(const KernelParts& parts, const Dims& extents) {
    Dims tile = square_tile(parts, extents);
    return tile.empty() ? tile_of_rows(parts) : tile;
}

constexpr int64_t kLongPiece =
    3072;  // bytes of a row: threads read shorter pieces slower than memory gives them

// Of a kernel that reduces columns: the dimension along which its inputs run without gaps
// (passes/loop_interchange.h), and how much of a row a thread should have at least.
void find_columns(const KernelForm& form, GridHints& hints) {
    if (form.shape != KernelShape::kReduce || form.lanes != 1) return;
    std::array<int, kMaxGridDimensions> inputs{};
    int64_t itemsize = 1;
    for (const InputForm& input : form.inputs) {
        if (input.position || !input.buffer.of_element) continue;
        for (size_t d = 0; d + 1 < input.buffer.strides.size(); ++d) {
            if (input.buffer.strides[d] != StrideClass::kItem) continue;
            ++inputs[d];
            itemsize = std::max<int64_t>(itemsize, DType::of(input.buffer.element).itemsize());
        }
    }
    const auto most = std::max_element(inputs.begin(), inputs.end());
    if (*most == 0) return;
    hints.columns = static_cast<int>(most - inputs.begin());
    hints.piece = kLongPiece / itemsize;
}

// Counts what the kernel will do.
LaunchRecord begin_record(const KernelParts& parts, const Dims& counted,
                          std::shared_ptr<const StoredKernel> kernel) {
    LaunchRecord record;
    record.kernel = std::move(kernel);
    record.operations = parts.operations;
    record.elements = element_count(counted);
    record.bytes_read = bytes_of_inputs(parts.inputs, counted);
    for (const BufferUse& use : parts.outputs) {
        const int64_t bytes = bytes_touched(use, counted);
        record.bytes_written += bytes;
        if (use.streamed) record.bytes_streamed += bytes;
    }
    return record;
}

// The arguments, in the order of the kernel's parameters.
void append_arguments(PreparedLaunch& launch, const KernelParts& parts, const Dims& extents) {
    for (const int64_t extent : extents) launch.words.push_back(static_cast<ArgumentWord>(extent));
    const auto append = [&](const BufferUse& use, const BufferForm& buffer) {
        if (use.buffer != nullptr && !use.position) {
            const auto start = static_cast<int64_t>(use.buffer->address());
            launch.origins.push_back(
                {static_cast<uint32_t>(launch.words.size()), use.buffer, use.base - start});
        }
        append_words(launch.words, use, buffer);
    };
    for (size_t k = 0; k < parts.inputs.size(); ++k) append(parts.inputs[k], parts.form.inputs[k].buffer);
    for (const ScalarUse& scalar : parts.scalars) {
        if (scalar.consumer != nullptr)
            launch.origins.push_back(
                {static_cast<uint32_t>(launch.words.size()), nullptr, 0, scalar.consumer, scalar.operand});
        append_words(launch.words, scalar);
    }
    for (size_t k = 0; k < parts.outputs.size(); ++k) append(parts.outputs[k], parts.form.outputs[k].buffer);
}

// Whether a launch that begins now is interpreted.
bool begin_by_blocks(const StoredKernel& kernel) {
    if (!kernel.runs_by_blocks()) return false;
    codegen::keep_compiling();
    return true;
}

}  // namespace

PreparedLaunch prepare(const KernelParts& parts, const Dims& extents, const Dims& counted,
                       std::shared_ptr<const StoredKernel> kernel) {
    const KernelForm& form = parts.form;
    const auto rank = static_cast<size_t>(form.grid_rank);
    PreparedLaunch launch;
    launch.record = begin_record(parts, counted, std::move(kernel));
    const DeviceBackend& device = parts.outputs[0].buffer->device();
    if (!device.is_cpu()) {
        launch.form = std::make_shared<const KernelForm>(form);
        launch.record.device = &parts.outputs[0].buffer->device();
    }
    launch.hints.in_order = parts.in_order;
    if (!parts.in_order) launch.tile = tile_of(parts, extents);
    find_columns(form, launch.hints);
    launch.cost = cost_of(form);
    for (size_t d = rank; d < extents.size() - (form.collapsed ? 1 : 0); ++d) launch.cost *= extents[d];
    launch.grid = Dims(std::span(extents.begin(), rank));
    append_arguments(launch, parts, extents);
    return launch;
}

void append_second(PreparedLaunch& launch, const KernelParts& parts, const Dims& extents) {
    append_arguments(launch, parts, extents);
    launch.words.push_back(launch.record.device->tickets());
    launch.record.operations += parts.operations;
    const LaunchRecord second = begin_record(parts, extents, nullptr);
    launch.record.bytes_read += second.bytes_read;
    launch.record.bytes_written += second.bytes_written;
    launch.record.bytes_streamed += second.bytes_streamed;
}

namespace {

// Under WEFT_DEBUG each kernel is waited for, so that its time is its own and a fault has a name.
void finish_named(DeviceBackend& device, const std::string& kernel) {
    try {
        device.synchronize();
    } catch (const Error& error) {
        if (!device.is_lost()) return;  // it is queued, and may have written where it read
        throw DeviceError(std::string(error.what()) + "\nThe kernel was " + kernel + ".");
    }
}

void log_launch(const LaunchRecord& record) {
    const StoredKernel& kernel = *record.kernel;
    char text[256];
    const double gigabytes = static_cast<double>(record.bytes_read + record.bytes_written) / 1e9;
    std::snprintf(text, sizeof text, "%-40s %12lld elements %9.3f ms %8.2f GB/s%s", kernel.name.c_str(),
                  static_cast<long long>(record.elements), record.seconds * 1e3, gigabytes / record.seconds,
                  record.fresh
                      ? (" (compiled in " + std::to_string(kernel.compile_seconds * 1e3) + " ms)").c_str()
                  : record.by_blocks ? " (interpreted)"
                                     : "");
    log_line(text);
}

}  // namespace

void run_prepared(PreparedLaunch& launch, bool& fresh) {
    using Clock = std::chrono::steady_clock;
    const bool on_cpu = launch.form == nullptr;
    DeviceBackend& device = on_cpu ? cpu_device() : *launch.record.device;
    if (!on_cpu &&
        (launch.record.kernel == nullptr || !fits(*launch.record.kernel, launch.words, launch.grid)))
        launch.record.kernel =
            find_or_compile_for_gpu(*launch.form, device, launch.words, launch.grid, fresh);
    LaunchRecord record = launch.record;
    const StoredKernel& kernel = *record.kernel;
    record.fresh = fresh;
    record.by_blocks = begin_by_blocks(kernel);
    GridHints hints = launch.hints;
    hints.tile = launch.tile;
    if (profiling()) [[unlikely]]
        record.stopwatch = device.start_stopwatch();
    const auto start = Clock::now();
    device.launch(*kernel.compiled, launch.words, launch.grid, launch.cost, hints);
    if (record.stopwatch != nullptr) [[unlikely]]
        record.stopwatch->stop();
    if (!on_cpu && debug_enabled(DebugLevel::kLaunches)) finish_named(device, kernel.name);
    record.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (debug_enabled(DebugLevel::kLaunches, kernel.name)) without_failing([&] { log_launch(record); });
    record_launch(std::move(record));
}

void launch_once(const KernelParts& parts, const Dims& extents, const Dims& counted) {
    bool fresh = false;
    const std::shared_ptr<const StoredKernel> kernel = find_or_compile(parts.form, fresh);
    PreparedLaunch launch = prepare(parts, extents, counted, kernel);
    run_prepared(launch, fresh);
}

void launch_collapsed(const KernelParts& parts, const Dims& extents, const Dims& counted) {
    const auto extra = static_cast<size_t>(parts.form.grid_rank - kMaxGridDimensions);
    const auto without_first = [extra](auto& values) {
        values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(extra));
    };
    KernelParts inner = parts;
    inner.form.grid_rank = kMaxGridDimensions;
    for (InputForm& input : inner.form.inputs) without_first(input.buffer.strides);
    for (OutputForm& output : inner.form.outputs) without_first(output.buffer.strides);
    const auto drop = [extra](Dims& dims) {
        dims = Dims(std::span(dims.begin() + extra, dims.size() - extra));
    };
    Dims inner_extents = extents, inner_counted = counted;
    drop(inner_extents);
    drop(inner_counted);
    bool fresh = false;
    const bool on_cpu = parts.outputs[0].buffer->on_host();
    std::shared_ptr<const StoredKernel> kernel = on_cpu ? find_or_compile(inner.form, fresh) : nullptr;
    Dims position(extra);
    while (true) {
        const auto move = [&](BufferUse& use, const BufferUse& whole) {
            use = whole;
            for (size_t d = 0; d < extra; ++d) use.base += position[d] * whole.strides[d];
            drop(use.strides);
        };
        for (size_t k = 0; k < parts.inputs.size(); ++k) move(inner.inputs[k], parts.inputs[k]);
        for (size_t k = 0; k < parts.outputs.size(); ++k) move(inner.outputs[k], parts.outputs[k]);
        PreparedLaunch launch = prepare(inner, inner_extents, inner_counted, kernel);
        run_prepared(launch, fresh);
        kernel = launch.record.kernel;
        fresh = false;
        size_t d = extra;
        while (d-- > 0) {
            if (++position[d] < extents[d]) break;
            position[d] = 0;
        }
        if (d == SIZE_MAX) return;
    }
}

TiledLaunch::TiledLaunch(const KernelParts& parts, const Dims& extents, size_t moving_input,
                         std::shared_ptr<const StoredKernel> kernel, bool fresh)
    : record_(begin_record(parts, extents, std::move(kernel))) {
    record_.fresh = fresh;
    record_.by_blocks = begin_by_blocks(*record_.kernel);
    for (const int64_t extent : extents) words_.push_back(static_cast<ArgumentWord>(extent));
    for (size_t k = 0; k < parts.inputs.size(); ++k) {
        if (k == moving_input) moving_word_ = words_.size();
        append_words(words_, parts.inputs[k], parts.form.inputs[k].buffer);
    }
    for (const ScalarUse& scalar : parts.scalars) append_words(words_, scalar);
    for (size_t k = 0; k < parts.outputs.size(); ++k)
        append_words(words_, parts.outputs[k], parts.form.outputs[k].buffer);
}

void TiledLaunch::run(const GridBox& box, int64_t origin, int64_t stride) const {
    std::vector<ArgumentWord> words = words_;
    words[moving_word_] = static_cast<ArgumentWord>(origin);
    words[moving_word_ + 1] = static_cast<ArgumentWord>(stride);
    cpu_device().run_box(*record_.kernel->compiled, words, box);
}

}  // namespace weft
