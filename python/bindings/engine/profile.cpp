// weft.profile() for Python, and where in a program something was recorded: code object and instruction,
// which are cheap to note; the line is looked up when somebody wants to read it.
#include "execution/profile.h"
#include "core/host.h"

#include <map>
#include <mutex>

#include "convert/convert.h"
#include "device/devices.h"
#include "execution/evaluate.h"
#include "module.h"
#include "objects/objects.h"
#include "package.h"

namespace weft::python {

namespace {

struct Site {
    PyObject* code = nullptr;  // held for ever: as many as a program has lines
    int64_t instruction = 0;
    std::string text;  // once it was asked for
};

// Global: numbers mean the same everywhere in the process. Python, which may let another thread run, is not
// called while the mutex is held.
struct Sites {
    std::mutex mutex;
    std::vector<Site> sites{Site{}};  // number 0: nowhere
    std::map<std::pair<PyObject*, int64_t>, uint32_t> numbers;
    std::map<PyObject*, bool> is_own;  // code of weft's package
    std::string package;               // its folder
};

Sites& sites() {
    static auto* instance = new Sites;
    return *instance;
}

/// With the GIL. The code's file, or nothing.
std::string file_of(PyObject* code) {
    const nb::object file = steal_or_throw(PyObject_GetAttrString(code, "co_filename"));
    return PyUnicode_Check(file.ptr()) ? text_of(file) : std::string();
}

bool is_own(PyObject* code) {
    Sites& all = sites();
    std::string package;
    {
        const std::lock_guard lock(all.mutex);
        const auto found = all.is_own.find(code);
        if (found != all.is_own.end()) return found->second;
        package = all.package;
    }
    if (package.empty()) {
        const nb::object file = nb::module_::import_(modules::kRoot).attr("__file__");
        const std::string text = text_of(file);
        package = text.substr(0, text.rfind('/') + 1);
    }
    const bool own = file_of(code).starts_with(package);
    const std::lock_guard lock(all.mutex);
    all.package = package;
    if (all.is_own.try_emplace(code, own).second) Py_INCREF(code);
    return own;
}

uint32_t find_site() {
    const nb::object none = nb::none();
    PyFrameObject* top = PyEval_GetFrame();  // borrowed
    nb::object frame = top == nullptr ? none : nb::borrow(reinterpret_cast<PyObject*>(top));
    while (!frame.is_none()) {
        const nb::object code = steal_or_throw(
            reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
        if (is_own(code.ptr())) {
            frame = frame.attr("f_back");
            continue;
        }
        const auto instruction = nb::cast<int64_t>(frame.attr("f_lasti"));
        Sites& all = sites();
        const std::lock_guard lock(all.mutex);
        const auto [position, is_new] = all.numbers.try_emplace({code.ptr(), instruction}, 0);
        if (is_new) {
            position->second = static_cast<uint32_t>(all.sites.size());
            all.sites.push_back({Py_NewRef(code.ptr()), instruction, {}});
        }
        return position->second;
    }
    return 0;
}

uint32_t call_site() {
    std::optional<GilAcquire> acquire;
    if (!holds_gil()) acquire.emplace();
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    uint32_t site = 0;
    try {
        site = find_site();
    } catch (const std::exception&) {  // an odd frame: nowhere
        PyErr_Clear();
    }
    PyErr_Restore(type, value, trace);
    return site;
}

/// "file.py:12 in f"
std::string describe(const Site& site) {
    const nb::handle code = site.code;
    int64_t line = nb::cast<int64_t>(code.attr("co_firstlineno"));
    for (const nb::handle range : code.attr("co_lines")()) {
        const bool covers =
            nb::cast<int64_t>(range[0]) <= site.instruction && site.instruction < nb::cast<int64_t>(range[1]);
        if (covers && !range[2].is_none()) line = nb::cast<int64_t>(range[2]);
    }
    const auto name = text_of(code.attr("co_name"));
    return file_of(site.code) + ":" + std::to_string(line) + (name == "<module>" ? "" : " in " + name);
}

std::string text_of_site(uint32_t number) {
    std::optional<GilAcquire> acquire;
    if (!holds_gil()) acquire.emplace();
    Sites& all = sites();
    Site site;
    {
        const std::lock_guard lock(all.mutex);
        if (number == 0 || number >= all.sites.size()) return "";
        site = all.sites[number];
    }
    if (!site.text.empty()) return site.text;
    std::string text = describe(site);
    const std::lock_guard lock(all.mutex);
    all.sites[number].text = text;
    return text;
}

nb::dict to_dict(const ProfiledWork& work) {
    nb::dict dict;
    dict["name"] = work.name;
    dict["device"] = work.device;
    dict["start"] = work.start;
    dict["seconds"] = work.seconds;
    dict["host_start"] = work.host_start;
    dict["host_seconds"] = work.host_seconds;
    dict["thread"] = work.thread;
    dict["bytes_read"] = work.bytes_read;
    dict["bytes_written"] = work.bytes_written;
    dict["elements"] = work.elements;
    dict["operations"] = work.operations;
    dict["compile_seconds"] = work.compile_seconds;
    dict["by_blocks"] = work.by_blocks;
    dict["is_copy"] = work.is_copy;
    dict["fallback"] = work.fallback;
    nb::list lines;
    for (const uint32_t site : work.sites) {
        const nb::object line = nb::cast(text_of_site(site));
        if (!PySequence_Contains(lines.ptr(), line.ptr()))
            lines.append(line);  // a line may record several times
    }
    dict["lines"] = lines;
    return dict;
}

}  // namespace

void bind_profile(nb::module_& m) {
    set_call_site_hooks({&call_site, &text_of_site});
    m.def("_begin_profile", [] { return begin_profile(); });
    m.def(
        "_end_profile",
        [](uint64_t profile) {
            std::vector<ProfiledWork> works;
            {
                const GilRelease release;
                works = end_profile(profile);
            }
            nb::list list;
            for (const ProfiledWork& work : works) list.append(to_dict(work));
            return list;
        },
        arg("profile"));
    m.def("_evaluate_held", [] {
        const GilRelease release;
        evaluate_held();
    });
    m.def(
        "_peak_bandwidth",
        [](const std::string& name) {
            DeviceBackend& device = device_named(name);
            const GilRelease release;
            return device.peak_bandwidth();
        },
        arg("device"));
}

}  // namespace weft::python
