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
    explicit JitOptions(int target, bool with_lines = false) : log_(size_t{16} << 10) {
        add(kJitErrorLogBuffer, log_.data());
        add(kJitErrorLogBufferBytes, number(static_cast<int>(log_.size())));
        if (target != 0) add(kJitTarget, number(target));
        if (with_lines) add(kJitLineInfo, number(1));
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

std::string assemble(Context& context, const std::string& ptx, bool with_lines) {
    const Context::Scope scope(context);
    const Driver& driver = context.driver();
    JitOptions options(0, with_lines);  // without a target the driver takes the context's device
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

LoadedModule::LoadedModule(Context& context, std::string_view image) : context_(context) {
    const Context::Scope scope(context);
    JitOptions options(0);
    const std::string bytes(image);  // images are read up to their own end; a text needs its zero byte
    const Result result = with_memory(context, [&] {
        return context.driver().module_load(&module_, bytes.data(), options.count(), options.names(),
                                            options.values());
    });
    if (result != kSuccess) refuse(context, result, "load", options);
}

LoadedModule::~LoadedModule() {
    if (module_ == nullptr || lost_by_fork() || context_.ruined()) return;
    without_failing([this] {  // the next use of the device says so
        context_.synchronize();
        const Context::Scope scope(context_);
        context_.batch().forget_all();
        (void)context_.driver().module_unload(module_);
    });
}

FunctionHandle LoadedModule::find_function(const std::string& symbol) const {
    const Context::Scope scope(context_);
    FunctionHandle function = nullptr;
    const Result result = context_.driver().module_function(&function, module_, symbol.c_str());
    if (result == kNotFound) return nullptr;
    context_.check(result, ("find the function " + symbol + " of a kernel").c_str());
    return function;
}

LoadedModule::Global LoadedModule::find_global(const std::string& symbol) const {
    const Context::Scope scope(context_);
    Global global;
    const Result result =
        context_.driver().module_global(&global.address, &global.bytes, module_, symbol.c_str());
    if (result == kNotFound) return {};
    context_.check(result, ("find the variable " + symbol + " of a module").c_str());
    return global;
}

std::vector<std::string> LoadedModule::function_symbols() const {
    const Driver& driver = context_.driver();
    if (driver.module_function_count == nullptr || driver.module_functions == nullptr ||
        driver.function_name == nullptr)
        return {};
    const Context::Scope scope(context_);
    const char* const what = "list the kernels of a module";
    unsigned count = 0;
    context_.check(driver.module_function_count(&count, module_), what);
    std::vector<FunctionHandle> functions(count);
    if (count > 0) context_.check(driver.module_functions(functions.data(), count, module_), what);
    std::vector<std::string> symbols;
    for (const FunctionHandle function : functions) {
        const char* name = nullptr;
        context_.check(driver.function_name(&name, function), what);
        symbols.emplace_back(name);
    }
    return symbols;
}

int attribute_of(Context& context, FunctionHandle function, int which) {
    int value = 0;
    const Context::Scope scope(context);
    context.check(context.driver().function_attribute(&value, which, function), "look at a kernel");
    return value;
}

void set_attribute(Context& context, FunctionHandle function, int which, int value, const char* what) {
    const Context::Scope scope(context);
    context.check(context.driver().function_set_attribute(function, which, value), what);
}

std::optional<std::vector<size_t>> parameter_bytes(Context& context, FunctionHandle function) {
    const Driver& driver = context.driver();
    if (driver.parameter_info == nullptr) return {};
    const Context::Scope scope(context);
    std::vector<size_t> all;
    for (;;) {
        size_t offset = 0, bytes = 0;
        const Result result = driver.parameter_info(function, all.size(), &offset, &bytes);
        if (result == kInvalidValue) return all;  // the one behind the last
        context.check(result, "ask for the parameters of a kernel");
        all.push_back(bytes);
    }
}

LoadedFunction::LoadedFunction(Context& context, std::string_view image, const std::string& symbol)
    : module_(context, image), function_(module_.find_function(symbol)) {
    if (function_ == nullptr)
        context.check(kNotFound, ("find the function " + symbol + " of a kernel").c_str());
}

void LoadedFunction::allow_shared(size_t bytes) {
    set_attribute(module_.context(), function_, kFunctionMaxDynamicShared, static_cast<int>(bytes),
                  "give a kernel its shared memory");
}

}  // namespace weft::cuda
