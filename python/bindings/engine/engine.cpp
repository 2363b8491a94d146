// What is weft's own and not NumPy's: evaluation, explanation, the kernel history, settings.

#include "api/linalg/linalg_device.h"
#include "api/recording/transfer.h"
#include "codegen/service/background_compiler.h"
#include "convert/convert.h"
#include "core/config.h"
#include "core/cuda_files.h"
#include "core/host.h"
#include "core/optimisation_switches.h"
#include "core/threads/interrupt.h"
#include "core/threads/process_end.h"
#include "core/threads/thread_pool.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/libraries.h"
#include "device/devices.h"
#include "execution/kernels/kernel_store.h"
#include "graph/placement.h"
#include "module.h"
#include "objects/objects.h"
#include "package.h"
#include "weft/cache.h"

namespace weft::python {

namespace {

std::vector<array> arrays_of(const nb::args& arguments) {
    std::vector<array> arrays;
    for (const nb::handle argument : arguments) {
        if (is_scalar(argument.ptr())) {
            arrays.push_back(scalar_array(argument.ptr()));
        } else if (is_array(argument.ptr())) {
            arrays.push_back(array_of(argument));
        } else {
            throw TypeError("expected weft's arrays");
        }
    }
    return arrays;
}

nb::dict to_dict(const KernelRecord& record) {
    nb::dict dict;
    dict["name"] = record.name;
    dict["ir"] = record.ir;
    dict["seconds"] = record.seconds;
    dict["compile_seconds"] = record.compile_seconds;
    dict["bytes_read"] = record.bytes_read;
    dict["bytes_written"] = record.bytes_written;
    dict["bytes_streamed"] = record.bytes_streamed;
    dict["elements"] = record.elements;
    dict["operations"] = record.operations;
    dict["compiled"] = record.compiled;
    dict["device"] = record.device;
    dict["fallback"] = record.fallback;
    return dict;
}

// Paths are bytes; Python's str holds them by its file system encoding.
nb::object path_to_python(const std::string& path) {
    return steal_or_throw(
        PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

std::string path_from_python(nb::handle path) {
    PyObject* bytes = nullptr;
    if (PyUnicode_FSConverter(path.ptr(), static_cast<void*>(&bytes)) == 0) throw_python_error();
    const nb::object owner = nb::steal(bytes);
    return {PyBytes_AsString(bytes), static_cast<size_t>(PyBytes_Size(bytes))};
}

nb::dict to_dict(const CacheInfo& info) {
    nb::dict dict;
    dict["enabled"] = info.enabled;
    dict["folder"] = path_to_python(info.folder);
    dict["reason"] = path_to_python(info.reason);
    dict["limit"] = info.limit;
    dict["entries"] = info.entries;
    dict["bytes"] = info.bytes;
    dict["hits"] = info.hits;
    dict["misses"] = info.misses;
    dict["dropped"] = info.dropped;
    dict["written"] = info.written;
    dict["evicted"] = info.evicted;
    dict["failed"] = info.failed;
    dict["compiled"] = info.compiled;
    return dict;
}

nb::object get_setting(const std::string& name) {
    Config& settings = config();
    if (name == "fuse") return nb::bool_(settings.fuse.load());
    if (name == "rewrite") return nb::bool_(settings.rewrite.load());
    if (name == "eager") return nb::bool_(settings.eager.load());
    if (name == "deferred_checks") return nb::bool_(settings.deferred_checks.load());
    if (name == "linalg_device") {
        return nb::str(std::string(linalg::linalg_device_name(linalg::linalg_device())).c_str());
    }
    if (name == "small") return nb::int_(settings.small_limit.load());
    if (name == "stream") return nb::int_(settings.stream.load());
    if (name == "tier") return nb::str(std::string(tier_name(settings.tier.load())).c_str());
    if (name == "tier_delay") return nb::int_(settings.tier_delay.load());
    if (name == "num_threads") return nb::int_(num_threads());
    if (name == "debug") return nb::int_(settings.debug.load());
    if (name == "guard") return nb::bool_(settings.guard.load());
    if (name == "verify") return nb::bool_(settings.verify.load());
    if (name == "cpu") return nb::str(settings.cpu().c_str());
    if (name == "without") return nb::str(without().c_str());
    if (name == "debug_filter") return nb::str(settings.debug_filter().c_str());
    if (name == "device") return nb::str(settings.device().c_str());
    if (name == "device_memory_limit") return nb::int_(settings.device_memory_limit.load());
    if (name == "allow_tf32") return nb::bool_(settings.allow_tf32.load());
    if (name == "fast_math") return nb::bool_(settings.fast_math.load());
    if (name == "cache") return nb::bool_(settings.cache.load());
    if (name == "cache_size") return nb::int_(settings.cache_size.load());
    if (name == "cache_dir") {
        const std::optional<std::string> path = settings.cache_dir();
        return path ? nb::object(path_to_python(*path)) : nb::none();
    }
    throw AttributeError("weft.config has no setting '" + name + "'");
}

bool to_switch(nb::handle value) {
    const int truth = PyObject_IsTrue(value.ptr());
    if (truth < 0) throw_python_error();
    return truth != 0;
}

int64_t to_bounded(const std::string& name, nb::handle value, int64_t lowest, int64_t highest) {
    const int64_t number = to_index(value);
    if (number < lowest || number > highest)
        throw ValueError("weft.config." + name + " must be from " + std::to_string(lowest) + " to " +
                         std::to_string(highest) + ", not " + std::to_string(number));
    return number;
}

std::string to_text(const std::string& name, nb::handle value) {
    if (!PyUnicode_Check(value.ptr())) throw TypeError("weft.config." + name + " must be a string");
    return text_of(value);
}

void set_setting(const std::string& name, nb::handle value) {
    Config& settings = config();
    if (name == "fuse") {
        settings.fuse = to_switch(value);
    } else if (name == "rewrite") {
        settings.rewrite = to_switch(value);
    } else if (name == "eager") {
        settings.eager = to_switch(value);
    } else if (name == "deferred_checks") {
        settings.deferred_checks = to_switch(value);
    } else if (name == "linalg_device") {
        linalg::set_linalg_device(linalg::parse_linalg_device(to_text(name, value)));
    } else if (name == "small") {
        settings.small_limit = to_bounded(name, value, 0, Config::kMostSmall);
    } else if (name == "stream") {
        settings.stream = to_bounded(name, value, -1, INT64_MAX);
    } else if (name == "tier") {
        settings.tier = parse_tier(to_text(name, value));
    } else if (name == "tier_delay") {
        settings.tier_delay = static_cast<int>(to_bounded(name, value, -1, 60000));
    } else if (name == "num_threads") {
        set_num_threads(static_cast<int>(to_bounded(name, value, 0, 4096)));
    } else if (name == "debug") {
        settings.debug = static_cast<int>(to_bounded(name, value, 0, 5));
    } else if (name == "verify") {
        settings.verify = to_switch(value);
    } else if (name == "guard") {
        settings.guard = to_switch(value);
    } else if (name == "cpu") {
        settings.set_cpu(to_text(name, value));
    } else if (name == "without") {
        for (const std::string& note : set_without(to_text(name, value))) {
            // 2: the program's line, behind that of weft.config
            if (PyErr_WarnEx(PyExc_DeprecationWarning, note.c_str(), 2) != 0) throw nb::python_error();
        }
    } else if (name == "device") {
        const bool is_default = PyUnicode_Check(value.ptr()) && PyUnicode_GetLength(value.ptr()) == 0;
        const nb::object device = nb::module_::import_(modules::kDevice).attr("device");
        settings.set_device(is_default ? "" : text_of(device(value)));
    } else if (name == "device_memory_limit") {
        settings.device_memory_limit = to_bounded(name, value, 0, INT64_MAX);
    } else if (name == "debug_filter") {
        settings.set_debug_filter(to_text(name, value));
    } else if (name == "allow_tf32") {
        settings.allow_tf32 = to_switch(value);
    } else if (name == "fast_math") {
        settings.fast_math = to_switch(value);
    } else if (name == "cache") {
        settings.cache = to_switch(value);
    } else if (name == "cache_size") {
        settings.cache_size = to_bounded(name, value, 0, INT64_MAX);
    } else if (name == "cache_dir") {
        settings.set_cache_dir(value.is_none() ? std::optional<std::string>() : path_from_python(value));
    } else {
        throw AttributeError("weft.config has no setting '" + name + "'");
    }
}

/// Python delivers signals to the main thread only, and only while it holds the GIL.
void check_interrupt() {
    if (!is_main_thread()) {
        const ForkWindow window;
        return;
    }
    const GilAcquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Whether Ctrl-C was pressed, for what cannot let Python's code run where it is. It stays pressed.
bool interrupt_is_asked() {
    if (!is_main_thread()) return false;
    const GilAcquire acquire;
    if (PyOS_InterruptOccurred() == 0) return false;
    PyErr_SetInterrupt();
    return true;
}

void wait_unlocked(void (*wait)(void* state), void* state) {
    if (!holds_gil()) {
        wait(state);
        return;
    }
    const GilRelease release;
    wait(state);
}

}  // namespace

namespace {

/// None: the current device.
DeviceBackend& to_device(nb::handle name) {
    return name.is_none() ? current_device() : device_named(text_of(name));
}

cuda::CudaDevice& to_gpu(nb::handle name) {
    DeviceBackend& device = to_device(name);
    if (device.is_cpu()) throw ValueError("the CPU is no GPU");
    return static_cast<cuda::CudaDevice&>(device);
}

nb::dict to_dict(const MemoryStats& stats) {
    nb::dict dict;
    dict["in_use"] = stats.in_use;
    dict["pooled"] = stats.pooled;
    dict["peak"] = stats.peak;
    dict["allocations"] = stats.allocations;
    return dict;
}

/// The folders that Python finds packages in; called when a library is looked for.
std::vector<std::string> package_folders() {
    const GilAcquire acquire;
    std::vector<std::string> folders;
    for (const nb::handle entry : nb::module_::import_("sys").attr("path")) {
        if (PyUnicode_Check(entry.ptr()) && nb::len(entry) != 0) folders.push_back(path_from_python(entry));
    }
    return folders;
}

nb::dict gpu_report() {
    nb::dict report;
    const cuda::Driver* driver = cuda::find_driver();
    nb::dict about;
    about["path"] = driver != nullptr ? nb::object(path_to_python(driver->path)) : nb::none();
    about["version"] = driver != nullptr ? cuda::version_text(driver->version) : "";
    about["reason"] = path_to_python(driver != nullptr ? "" : cuda::why_no_driver());
    report["driver"] = about;
    nb::list devices;
    for (int k = 0; driver != nullptr && k < driver->devices; ++k) {
        const cuda::DeviceFacts facts = cuda::read_facts(*driver, k);
        nb::dict device;
        device["device"] = "cuda:" + std::to_string(k);
        device["name"] = facts.name;
        device["capability"] =
            std::to_string(facts.capability / 10) + "." + std::to_string(facts.capability % 10);
        device["multiprocessors"] = facts.multiprocessors;
        device["memory"] = facts.memory;
        devices.append(device);
    }
    report["devices"] = devices;
    nb::list libraries;
    std::vector<cuda::LibraryReport> found;
    {
        const GilRelease release;
        found = cuda::report_libraries();
    }
    for (const cuda::LibraryReport& each : found) {
        nb::dict library;
        library["name"] = each.name;
        library["path"] = path_to_python(each.path);
        library["version"] = each.version;
        library["reason"] = path_to_python(each.reason);
        libraries.append(library);
    }
    report["libraries"] = libraries;
    report["libdevice"] = path_to_python(find_libdevice_file());
    return report;
}

void bind_devices(nb::module_& m) {
    set_package_folders(package_folders);
    m.def(
        "_to_device",
        [](nb::handle input, const std::string& name) {
            const array& value = array_of(input);
            DeviceBackend& device = device_named(name);
            if (&device_of(value) == &device) return nb::borrow(input);
            return wrap(move_to(value, device));
        },
        arg("array"), arg("device"));
    m.def(
        "_set_current_device",
        [](nb::handle name) -> nb::object {
            const DeviceBackend* before =
                set_current_device(name.is_none() ? nullptr : &device_named(text_of(name)));
            return before == nullptr ? nb::none() : nb::object(nb::str(before->name().c_str()));
        },
        arg("name"));
    m.def("_gpu_count", [] { return cuda::cuda_device_count(); });
    m.def(
        "_synchronize",
        [](nb::handle name) {
            DeviceBackend& device = to_device(name);
            const GilRelease release;
            device.synchronize();
        },
        arg("name"));
    m.def(
        "_memory_stats", [](nb::handle name) { return to_dict(to_device(name).memory_stats()); },
        arg("name"));
    m.def("_gpu_report", gpu_report);
    m.def(
        "_gpu_memory",
        [](nb::handle name) {
            const cuda::CudaDevice::MemoryInfo info = to_gpu(name).memory_info();
            return nb::make_tuple(info.free_bytes, info.all_bytes);
        },
        arg("name"));
    m.def(
        "_tell_profilers", [](nb::handle name, bool look) { to_gpu(name).tell_profilers(look); }, arg("name"),
        arg("look"));
    m.def(
        "_empty_pool",
        [](nb::handle name) {
            DeviceBackend& device = to_device(name);
            const GilRelease release;
            device.empty_pool();
        },
        arg("name"));
}

}  // namespace

void bind_engine(nb::module_& m) {
    set_host_hooks({&check_interrupt, &wait_unlocked});
    set_interrupt_hooks({&interrupt_is_asked, &check_interrupt});
    bind_devices(m);
    m.def(
        "eval",
        [](const nb::args& arguments) {
            std::vector<array> pending = arrays_of(arguments);
            std::erase_if(pending, [](const array& input) { return evaluated(input); });
            if (pending.empty()) return;
            const GilRelease release;
            eval(pending);
        },
        arg("arrays"), "Computes what is pending for these arrays now.");
    m.def(
        "explain", [](const nb::args& arguments) { return explain(arrays_of(arguments)); }, arg("arrays"),
        "What would run to compute these arrays, kernel by kernel, and why.");
    m.def(
        "_evaluated",
        [](nb::handle input) {
            return evaluated(arrays_of(nb::borrow<nb::args>(nb::make_tuple(input))).at(0));
        },
        arg("array"));
    m.def(
        "kernel_history",
        [] {
            nb::list list;
            for (const KernelRecord& record : kernel_history()) list.append(to_dict(record));
            return list;
        },
        "The kernels that ran since the start, or since clear_kernel_history(), the latest last: "
        "dictionaries with "
        "name, ir, seconds, compile_seconds, bytes_read, bytes_written, bytes_streamed, elements, "
        "operations, compiled, device, fallback (why the CPU did what was the device's).");
    m.def("clear_kernel_history", [] { clear_kernel_history(); }, "Forgets the kernels that ran.");
    m.def(
        "cache_info",
        [] {
            CacheInfo info;
            {
                const GilRelease release;
                info = cache_info();
            }
            return to_dict(info);
        },
        "The kernel cache on disk: a dictionary with enabled, folder, reason (why it is not enabled), limit, "
        "entries and bytes (on disk), and what this process did: hits, misses, dropped (damaged entries), "
        "written, evicted, failed (reads and writes that the system refused), and compiled (kernels "
        "compiled, "
        "with or without a cache).");
    m.def(
        "cache_clear",
        [] {
            const GilRelease release;
            return cache_clear();
        },
        "Removes every kernel from the cache on disk and returns how many. Kernels in memory stay.");
    watch_end_of_process();
    m.def("_end_compilations", [] {
        const GilRelease release;
        codegen::end_compilations(check_interrupt);
    });
    m.def("_forget_kernels", [] { forget_kernels(); });
    m.def("_get_setting", get_setting, arg("name"));
    m.def("_set_setting", set_setting, arg("name"), arg("value"));
}

}  // namespace weft::python
