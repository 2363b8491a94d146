#include "device/cuda/cuda_device.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "core/without_failing.h"
#include "weft/errors.h"

namespace weft::cuda {

namespace {

class CudaBuffer final : public Buffer {
public:
    CudaBuffer(CudaDevice& device, size_t bytes) : Buffer(device, 0, bytes), pool_(device.pool()) {}
    ~CudaBuffer() override {
        if (block_.address == 0 || lost_by_fork()) return;
        block_.known_border = std::move(known_border_);
        pool_.give_back(std::move(block_));
    }
    void take(const KnownBorder* mark) {
        block_ = pool_.take(size_, mark);
        data_ = reinterpret_cast<char*>(block_.address);
        known_border_ = std::move(block_.known_border);
    }
    const Block& block() const { return block_; }

private:
    MemoryPool& pool_;
    Block block_;
};

class ForeignCudaBuffer final : public Buffer {
public:
    ForeignCudaBuffer(CudaDevice& device, DeviceAddress address, size_t bytes, std::shared_ptr<void> owner)
        : Buffer(device, address, bytes), device_(device) {
        owners_.push_back(std::move(owner));
        expose();
    }
    ~ForeignCudaBuffer() override {
        try {
            device_.synchronize();  // its owner may reuse the memory at once
        } catch (const std::exception&) {
            device_.keep(owners_);
        }
    }

private:
    CudaDevice& device_;
    CudaDevice::Owners owners_;  // one
};

double host_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const Block kForeign{0, 0, UINT64_MAX, nullptr};  // queued work may touch it, as far as anybody knows

}  // namespace

// A moment by the device's clock and by the host's.
struct Epoch {
    explicit Epoch(Context& context) : event(context, true) {
        event.record(context.stream());
        event.wait();
        host = host_seconds();
    }
    Event event;
    double host = 0;
};

namespace {

constexpr double kEpochSeconds = 10;  // events tell milliseconds as floats: later ones would be coarse

class CudaStopwatch final : public Stopwatch {
public:
    CudaStopwatch(Context& context, std::shared_ptr<Epoch> epoch)
        : context_(context), epoch_(std::move(epoch)), begin_(context, true), end_(context, true) {
        begin_.record(context.stream());
    }
    void stop() noexcept override {
        without_failing([this] {
            const Context::Scope scope(context_);
            end_.record(context_.stream());
            stopped_ = true;
        });
    }
    std::optional<Times> read() noexcept override {
        std::optional<Times> times;
        if (!stopped_) return times;
        without_failing([&] {
            const Context::Scope scope(context_);
            end_.wait();
            times = {epoch_->host + begin_.seconds_since(epoch_->event), end_.seconds_since(begin_)};
        });
        return times;
    }

private:
    Context& context_;
    std::shared_ptr<Epoch> epoch_;
    Event begin_, end_;
    bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Stopwatch> CudaDevice::start_stopwatch() {
    context_.check_usable();
    try {
        const Context::Scope scope(context_);
        std::shared_ptr<Epoch> epoch;
        {
            const std::lock_guard lock(mutex_);
            if (epoch_ == nullptr || host_seconds() > epoch_->host + kEpochSeconds)
                epoch_ = std::make_shared<Epoch>(context_);
            epoch = epoch_;
        }
        return std::make_unique<CudaStopwatch>(context_, std::move(epoch));
    } catch (const Error&) {
        if (context_.ruined()) throw;
        return nullptr;  // a time that is not known is no reason to fail
    }
}

CudaDevice::CudaDevice(const Driver& driver, int ordinal)
    : context_(driver, ordinal), pool_(context_), transfers_(context_, pool_) {
    context_.set_reclaim([this] { return pool_.reclaim(); });
}

CudaDevice::~CudaDevice() = default;

BufferPtr CudaDevice::allocate(size_t bytes) { return allocate_marked(bytes, nullptr); }

BufferPtr CudaDevice::allocate_marked(size_t bytes, const KnownBorder* mark) {
    check_fork();
    auto buffer = std::make_shared<CudaBuffer>(*this, bytes);  // before there is a block that could be lost
    buffer->take(mark);
    return buffer;
}

BufferPtr CudaDevice::wrap(char* data, size_t bytes, std::shared_ptr<void> owner) {
    return std::make_shared<ForeignCudaBuffer>(*this, reinterpret_cast<DeviceAddress>(data), bytes,
                                               std::move(owner));
}

void CudaDevice::copy_in(const Buffer& to, size_t offset, const char* from, size_t bytes) {
    const auto* own = dynamic_cast<const CudaBuffer*>(&to);
    transfers_.copy_in(own != nullptr ? own->block() : kForeign, to.address() + offset, from, bytes);
}

void CudaDevice::copy_out(char* to, const Buffer& from, size_t offset, size_t bytes) {
    transfers_.copy_out(to, from.address() + offset, bytes);
}

void CudaDevice::copy(const Buffer& to, size_t to_offset, const Buffer& from, size_t from_offset,
                      size_t bytes) {
    if (bytes == 0) return;
    if (from.on_host()) {
        copy_in(to, to_offset, from.data() + from_offset, bytes);
    } else if (&from.device() != this) {
        copy_from_peer(to, to_offset, from, from_offset, bytes);
    } else {
        const Context::Scope scope(context_);
        const MemoryPool::Queueing counted(pool_);
        context_.check(context_.driver().copy_within(to.address() + to_offset, from.address() + from_offset,
                                                     bytes, context_.stream()),
                       "copy on the device");
    }
}

void CudaDevice::clear(const Buffer& buffer, size_t offset, size_t bytes) {
    if (bytes == 0) return;
    const Context::Scope scope(context_);
    const MemoryPool::Queueing counted(pool_);
    context_.check(context_.driver().fill_bytes(buffer.address() + offset, 0, bytes, context_.stream()),
                   "clear memory");
}

// On this device's stream, after what the other one has queued; its later work comes after the copy.
void CudaDevice::copy_from_peer(const Buffer& to, size_t to_offset, const Buffer& from, size_t from_offset,
                                size_t bytes) {
    auto& other = static_cast<CudaDevice&>(from.device());
    Context& source = other.context_;
    context_.reach(source);
    {
        const Context::Scope scope(source);
        Event computed(source);
        computed.record(source.stream());
        computed.make_wait(context_.stream());
    }
    const Context::Scope scope(context_);
    const MemoryPool::Queueing counted(pool_), counted_there(other.pool_);
    context_.check(
        context_.driver().copy_peer(to.address() + to_offset, context_.handle(), from.address() + from_offset,
                                    source.handle(), bytes, context_.stream()),
        "copy from another device");
    try {
        Event copied(context_);
        copied.record(context_.stream());
        copied.make_wait(source.stream());
    } catch (...) {  // the source's later work would not come after the copy
        if (context_.driver().stream_synchronize(context_.stream()) != kSuccess)
            context_.owe(Context::Whose::kOwn);
        throw;
    }
}

void CudaDevice::launch(const CompiledKernel& kernel, std::span<const ArgumentWord> words,
                        std::span<const int64_t> grid, int64_t, const GridHints&) {
    const auto& loaded = static_cast<const CudaKernel&>(kernel);
    const CudaKernelImage& image = loaded.description;
    WEFT_CHECK(words.size() == static_cast<size_t>(image.words), image.name);
    const CudaLaunchShape shape = launch_shape(image, words, grid);
    if (shape.blocks == 0) return;
    if (context_.batch().is_open()) {
        context_.check_usable();
        context_.batch().add(loaded.function.handle(), shape, words);
        pool_.mark();
        return;
    }
    launch_now(loaded, words, shape);
}

void CudaDevice::launch_now(const CudaKernel& loaded, std::span<const ArgumentWord> words,
                            const CudaLaunchShape& shape) {
    const Context::Scope scope(context_);
    const MemoryPool::Queueing counted(pool_);
    if (shape.together) {
        context_.check(context_.driver().fill_bytes(grid_word(), 0, kGridBytes, context_.stream()),
                       "clear memory");
        std::array<void*, 1> parameter{const_cast<ArgumentWord*>(words.data())};
        context_.check(context_.driver().launch_together(loaded.function.handle(), shape.blocks,
                                                         shape.blocks_y, shape.blocks_z, shape.threads_x,
                                                         shape.threads_y, shape.threads_z, shape.shared_bytes,
                                                         context_.stream(), parameter.data()),
                       "launch a kernel whose blocks wait for each other");
        return;
    }
    size_t bytes = words.size_bytes();
    std::array<void*, 5> arguments{kLaunchParamBuffer, const_cast<ArgumentWord*>(words.data()),
                                   kLaunchParamSize, &bytes, kLaunchParamEnd};
    context_.check(context_.driver().launch(loaded.function.handle(), shape.blocks, shape.blocks_y,
                                            shape.blocks_z, shape.threads_x, shape.threads_y, shape.threads_z,
                                            shape.shared_bytes, context_.stream(), nullptr, arguments.data()),
                   "launch a kernel");
}

void CudaDevice::launch_function(FunctionHandle function, void** parameters, const CudaLaunchShape& shape) {
    const Context::Scope scope(context_);
    const MemoryPool::Queueing counted(pool_);
    const Driver& driver = context_.driver();
    const Result result = shape.together
                              ? driver.launch_together(function, shape.blocks, shape.blocks_y, shape.blocks_z,
                                                       shape.threads_x, shape.threads_y, shape.threads_z,
                                                       shape.shared_bytes, context_.stream(), parameters)
                              : driver.launch(function, shape.blocks, shape.blocks_y, shape.blocks_z,
                                              shape.threads_x, shape.threads_y, shape.threads_z,
                                              shape.shared_bytes, context_.stream(), parameters, nullptr);
    context_.check(result, "launch a kernel");
}

void CudaDevice::run_box(const CompiledKernel& kernel, std::span<const ArgumentWord>, const GridBox&) {
    throw InternalError("a box of " + kernel.name + " on " + name());
}

int64_t CudaDevice::most_blocks_together(FunctionHandle function, int64_t threads, int64_t shared_bytes) {
    const Context::Scope scope(context_);
    int blocks = 0;
    context_.check(context_.driver().blocks_at_once(&blocks, function, static_cast<int>(threads),
                                                    static_cast<size_t>(shared_bytes)),
                   "ask how many blocks run at once");
    return int64_t{blocks} * context_.facts().multiprocessors;
}

CudaDevice::MemoryInfo CudaDevice::memory_info() {
    const Context::Scope scope(context_);
    MemoryInfo info;
    context_.check(context_.driver().memory_info(&info.free_bytes, &info.all_bytes),
                   "ask for the free memory");
    return info;
}

void CudaDevice::tell_profilers(bool look) {
    const Context::Scope scope(context_);
    const auto tell = look ? context_.driver().profiler_start : context_.driver().profiler_stop;
    if (tell != nullptr) context_.check(tell(), "tell a profiler");
}

// Kernels run one after another on one stream, and each leaves zeros; one that does not come to its end ruins
// the context. The memory is the device's for as long as the process lives, and no array's.
uint64_t CudaDevice::tickets() {
    if (tickets_ != 0) return tickets_;
    constexpr size_t kBytes = kTicketBytes + kGridBytes;
    const Driver& driver = context_.driver();
    const Context::Scope scope(context_);
    DeviceAddress made = 0;
    Result result = driver.allocate(&made, kBytes);
    if (result == kOutOfMemory) {
        pool_.empty();
        result = driver.allocate(&made, kBytes);
    }
    context_.check(result, "allocate memory");
    result = driver.fill_bytes(made, 0, kBytes, context_.stream());
    if (result != kSuccess) driver.free(made);
    context_.check(result, "clear memory");
    return tickets_ = made;
}

// The host's, so that it is there to read once the device is done, and written by nobody in all other cases.
LaunchError& CudaDevice::launch_error(int64_t number) {
    const std::lock_guard lock(mutex_);
    if (launch_errors_ == nullptr) {
        const Context::Scope scope(context_);
        void* memory = nullptr;
        context_.check(context_.driver().host_allocate(&memory, kMostOpenLaunches * sizeof(LaunchError),
                                                       kHostAllocPortable),
                       "allocate memory for the errors of kernels");
        launch_errors_ = static_cast<LaunchError*>(memory);
        std::uninitialized_fill_n(launch_errors_, kMostOpenLaunches, LaunchError{});
    }
    return launch_errors_[number % kMostOpenLaunches];
}

void CudaDevice::synchronize() {
    const uint64_t mark = pool_.queued();  // what other threads queue meanwhile may not be done
    Owners done;
    {
        const std::lock_guard lock(mutex_);
        done.swap(kept_);
    }
    try {
        context_.synchronize();
    } catch (...) {
        if (!context_.ruined()) keep(done);
        throw;
    }
    pool_.completed(mark);
}

void CudaDevice::keep(Owners& owners) noexcept {
    if (context_.ruined() || lost_by_fork()) return;  // nothing runs there any more
    const std::lock_guard lock(mutex_);
    kept_.splice(kept_.end(), owners);
}

void CudaDevice::wait_for_stream(uint64_t stream) {
    const Context::Scope scope(context_);
    const MemoryPool::Queueing counted(
        pool_);  // memory that was freed before may be in use by what is waited for
    try {
        Event queued(context_);
        queued.record(reinterpret_cast<StreamHandle>(stream));
        queued.make_wait(context_.stream());
    } catch (...) {
        context_.owe(Context::Whose::kEverybodys);
        throw;
    }
}

void CudaDevice::make_stream_wait(uint64_t stream) {
    const Context::Scope scope(context_);
    try {
        Event queued(context_);
        queued.record(context_.stream());
        queued.make_wait(reinterpret_cast<StreamHandle>(stream));
    } catch (const Error&) {  // then work on the stream that is queued later comes after what is done now
        const char* const what = "let another library's stream wait for what is written, which is done";
        context_.check(context_.driver().stream_synchronize(context_.stream()), what);
        context_.check(context_.driver().stream_synchronize(context_.copy_stream()), what);
    }
}

void CudaDevice::synchronize_with_others() {
    try {
        const Context::Scope scope(context_);
        context_.check(context_.driver().context_synchronize(), "finish everybody's work on the device");
    } catch (...) {
        context_.owe(Context::Whose::kEverybodys);
        throw;
    }
}

std::shared_ptr<CudaKernel> CudaDevice::load(CudaKernelImage description, std::string_view machine_code) {
    auto kernel = std::make_shared<CudaKernel>(context_, std::move(description), machine_code);
    auto& made = *kernel;
    made.name = made.description.name;
    made.grid_dimensions = made.description.grid_dimensions;
    made.compile_seconds = made.description.compile_seconds;
    return kernel;
}

int cuda_device_count() {
    const Driver* usable = find_driver();
    return usable == nullptr ? 0 : usable->devices;
}

namespace {

std::atomic<bool> opened{false};

}  // namespace

bool any_device_opened() { return opened.load(std::memory_order_relaxed); }

CudaDevice& cuda_device(int ordinal) {
    static std::mutex mutex;
    static std::map<int, std::unique_ptr<CudaDevice>>* const devices =
        new std::map<int, std::unique_ptr<CudaDevice>>;  // arrays may outlive static destruction
    const Driver& usable = driver();
    const std::lock_guard lock(mutex);
    const auto found = devices->find(ordinal);
    if (found != devices->end()) return *found->second;
    opened.store(true, std::memory_order_relaxed);
    return *devices->emplace(ordinal, std::make_unique<CudaDevice>(usable, ordinal)).first->second;
}

CudaDevice* device_of_address(DeviceAddress address) {
    // Any context will do; not one that answers nothing but its fault.
    int asked = 0;
    while (asked + 1 < cuda_device_count() && cuda_device(asked).context().ruined()) ++asked;
    Context& context = cuda_device(asked).context();
    const Context::Scope scope(context);
    int ordinal = 0;
    const Result result = context.driver().pointer_attribute(&ordinal, kPointerDeviceOrdinal, address);
    if (result == kInvalidValue) return nullptr;
    context.check(result, "find the device that has the memory");
    return &cuda_device(ordinal);
}

}  // namespace weft::cuda
