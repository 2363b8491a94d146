#include "device/cuda/module.h"

#include <array>
#include <cstdint>
#include <vector>

#include "core/without_failing.h"
#include "weft/errors.h"

namespace weft::cuda {

namespace {

// The options of a call of the assembler or loader: where it writes its messages, and for which device it
// works. Numbers are passed as the values of pointers.
class JitOptions {
public:
    explicit JitOptions(int target) : log_(size_t{16} << 10) {
        add(kJitErrorLogBuffer, log_.data());
        add(kJitErrorLogBufferBytes, number(static_cast<int>(log_.size())));
        if (target != 0) add(kJitTarget, number(target));
    }
    unsigned count() const { return count_; }
    int* names() { return names_.data(); }
    void** values() { return values_.data(); }
    std::string log() const {
        const std::string text = log_.data();
        return text.empty() ? "" : "\n" + text;
    }

private:
    static void* number(int value) { return reinterpret_cast<void*>(static_cast<uintptr_t>(value)); }
    void add(int name, void* value) {
        names_[count_] = name;
        values_[count_++] = value;
    }

    std::vector<char> log_;
    std::array<int, 4> names_{};
    std::array<void*, 4> values_{};
    unsigned count_ = 0;
};

// Tried again, where there is too little memory, without the pool's.
template <class Call>
Result with_memory(Context& context, const Call& call) {
    const Result result = call();
    return result == kOutOfMemory && context.reclaim() ? call() : result;
}

// A link in progress, destroyed on every way out.
class Link {
public:
    Link(Context& context, JitOptions& options) : context_(context) {
        context.check(with_memory(context,
                                  [&] {
                                      return context.driver().link_create(options.count(), options.names(),
                                                                          options.values(), &handle_);
                                  }),
                      "start its assembler");
    }
    ~Link() { context_.driver().link_destroy(handle_); }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    LinkHandle handle() const { return handle_; }

private:
    Context& context_;
    LinkHandle handle_ = nullptr;
};

[[noreturn]] void refuse(Context& context, Result result, const char* what, const JitOptions& options) {
    context.check_fault(result);
    context.driver().refuse(result, std::string(what) + " a kernel for " + context.name(), options.log());
}

}  // namespace

std::string assemble(Context& context, const std::string& ptx) {
    const Context::Scope scope(context);
    const Driver& driver = context.driver();
    JitOptions options(0);  // without a target the driver takes the context's device
    const Link link(context, options);
    std::string text = ptx;  // with the zero byte at its end, which the driver wants counted
    Result result = with_memory(context, [&] {
        return driver.link_add(link.handle(), kJitInputPtx, text.data(), text.size() + 1, "weft", 0, nullptr,
                               nullptr);
    });
    void* image = nullptr;
    size_t bytes = 0;
    if (result == kSuccess)
        result = with_memory(context, [&] { return driver.link_complete(link.handle(), &image, &bytes); });
    if (result != kSuccess) refuse(context, result, "assemble", options);
    return {static_cast<const char*>(image), bytes};
}

LoadedFunction::LoadedFunction(Context& context, std::string_view image, const std::string& symbol)
    : context_(context) {
    const Context::Scope scope(context);
    const Driver& driver = context.driver();
    JitOptions options(0);
    const std::string bytes(image);  // images are read up to their own end; a text needs its zero byte
    const Result result = with_memory(context, [&] {
        return driver.module_load(&module_, bytes.data(), options.count(), options.names(), options.values());
    });
    if (result != kSuccess) refuse(context, result, "load", options);
    const Result found = driver.module_function(&function_, module_, symbol.c_str());
    if (found != kSuccess) {
        (void)driver.module_unload(module_);
        context.check(found, ("find the function " + symbol + " of a kernel").c_str());
    }
}

LoadedFunction::~LoadedFunction() {
    if (lost_by_fork() || context_.ruined()) return;
    without_failing([this] {  // the next use of the device says so
        context_.synchronize();
        const Context::Scope scope(context_);
        context_.batch().forget_all();
        (void)context_.driver().module_unload(module_);
    });
}

int LoadedFunction::attribute(int which) const {
    int value = 0;
    const Context::Scope scope(context_);
    context_.check(context_.driver().function_attribute(&value, which, function_), "look at a kernel");
    return value;
}

void LoadedFunction::allow_shared(size_t bytes) {
    const Context::Scope scope(context_);
    context_.check(context_.driver().function_set_attribute(function_, kFunctionMaxDynamicShared,
                                                            static_cast<int>(bytes)),
                   "give a kernel its shared memory");
}

}  // namespace weft::cuda
