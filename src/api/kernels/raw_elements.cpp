#include "api/kernels/raw_elements.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "api/kernels/taken_arguments.h"
#include "api/recording/kernel_launch.h"
#include "core/shape.h"
#include "core/threads/thread_pool.h"
#include "device/devices.h"
#include "execution/kernels/kernel_store.h"
#include "jit/range_kernel.h"
#include "lang/c_source/ranges.h"
#include "weft/errors.h"
#include "weft/ops.h"

namespace weft {

namespace {

namespace c_source = lang::c_source;

constexpr int64_t kBlock = 128;       // threads of a GPU
constexpr int64_t kLeastChunk = 256;  // positions

[[noreturn]] void throw_index_error(const std::vector<std::string>& checks, const jit::RangeError& error) {
    if (error.site >= checks.size()) throw InternalError("a kernel has failed without a reason");
    throw IndexError("index " + std::to_string(error.index) + " is out of bounds for " + checks[error.site] +
                     ", which has " + std::to_string(error.size) + " elements");
}

void append_words(std::vector<ArgumentWord>& words, const Taken& taken, uint64_t address) {
    if (taken.is_number()) {
        const std::vector<char> bytes = bytes_of_number(taken.value);
        const size_t before = words.size();
        words.resize(before + (bytes.size() > sizeof(ArgumentWord) ? 2 : 1));
        std::memcpy(&words[before], bytes.data(), bytes.size());
        return;
    }
    words.push_back(address);
    if (!taken.is_raw()) return;
    words.push_back(static_cast<ArgumentWord>(taken.value.size()));
    for (const int64_t extent : taken.value.shape()) words.push_back(static_cast<ArgumentWord>(extent));
}

}  // namespace

struct RawElements::Code {
    std::vector<std::string> checks;
    std::shared_ptr<const jit::RangeKernel> kernel;
    std::shared_ptr<const StoredKernel> stored;  // for the history
};

RawElements::RawElements() = default;
RawElements::~RawElements() = default;

std::vector<array> RawElements::run(const std::string& name, const c_source::ElementSource& source,
                                    const KernelArguments& arguments, const KernelTypes& types,
                                    const Dims& shape) {
    DeviceBackend& device = device_of_kernel(name, arguments);
    const DeviceScope scope(device);
    const bool on_gpu = !device.is_cpu();
    TakenArguments taken(source.inputs, source.outputs, arguments, types, shape);
    const std::vector<Taken>& all = taken.all();
    const bool may_overlap = taken.share_memory();
    std::string key =
        types.key() + (may_overlap ? "o" : "d") + (on_gpu ? device.name() : std::string()) + "|";
    for (const Taken& one : all)
        key += std::to_string(static_cast<int>(one.how.kind)) + ":" + std::to_string(one.how.rank) + ",";
    std::shared_ptr<const Code> code;
    bool fresh = false;
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = codes_.find(key); found != codes_.end()) code = found->second;
    }
    if (code == nullptr) {
        std::vector<c_source::RangeArgument> how;
        for (const Taken& one : all) how.push_back(one.how);
        auto made = std::make_shared<Code>();
        c_source::RangeCode lowered = c_source::lower_range(name, source, how, may_overlap, false);
        if (on_gpu) {
            const c_source::RangeCode of_thread = c_source::lower_range(name, source, how, may_overlap, true);
            made->kernel = jit::compile_range_for_gpu(of_thread.module, lowered.module, name, device);
        } else {
            made->kernel = jit::compile_range(lowered.module, name);
        }
        made->checks = std::move(lowered.checks);
        auto stored = std::make_shared<StoredKernel>();
        stored->name = name + "()";
        stored->ir = made->kernel->ir;
        stored->compile_seconds = made->kernel->compile_seconds;
        stored->is_function = true;
        made->stored = std::move(stored);
        fresh = !made->kernel->from_disk;
        const std::lock_guard lock(mutex_);
        code = codes_.emplace(key, std::move(made)).first->second;
    }

    const int64_t count = element_count(shape);
    if (count == 0) return taken.results();
    const int64_t chunk =
        on_gpu ? kBlock : std::max(kLeastChunk, count / (8 * static_cast<int64_t>(num_threads())));
    std::vector<ArgumentWord> words{static_cast<ArgumentWord>(count), static_cast<ArgumentWord>(chunk)};
    LaunchRecord record;
    record.kernel = code->stored;
    record.fresh = fresh;
    record.elements = count;
    for (const Taken& one : all) {
        if (one.is_number()) continue;
        (one.is_output ? record.bytes_written : record.bytes_read) += one.value.nbytes();
    }
    const auto begin = std::chrono::steady_clock::now();
    if (on_gpu) {
        std::vector<LaunchArgument> pinned;
        pinned.reserve(all.size());
        std::vector<const Buffer*> read;
        std::vector<Buffer*> written;
        for (const Taken& one : all) {
            if (one.is_number()) {
                append_words(words, one, 0);
                continue;
            }
            pinned.emplace_back(one.value);
            append_words(words, one, pinned.back().address());
            read.push_back(pinned.back().buffer().get());
            if (one.is_output) written.push_back(pinned.back().buffer().get());
        }
        const LaunchTurn turn(device);
        jit::launch_range(*code->kernel, words, count, chunk, turn.number());
        LaunchErrorThrower thrower;
        if (!code->checks.empty()) {
            thrower = [code](const LaunchError& error) {
                throw_index_error(code->checks, jit::range_error(error.status, error.values));
            };
        }
        note_launch(device, turn.number(), read, written, std::move(thrower));
        record.device = &device;
    } else {
        std::vector<HostView> views;
        for (const Taken& one : all) {
            if (one.is_number()) {
                append_words(words, one, 0);
                continue;
            }
            views.emplace_back(one.value, one.is_output);
            append_words(words, one, reinterpret_cast<uint64_t>(views.back().data()));
        }
        if (const auto error = jit::run_range(*code->kernel, words)) throw_index_error(code->checks, *error);
    }
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    record_launch(std::move(record));
    taken.write_back();
    return taken.results();
}

}  // namespace weft
