#include "execution/cuda_source/nvcc.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "core/cuda_files.h"
#include "execution/cuda_source/compile_log.h"
#include "weft/cuda/raw_kernel.h"
#include "weft/errors.h"

extern char** environ;

namespace weft {

namespace {

namespace files = std::filesystem;

// A folder of its own, which goes with all that is in it.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (files::temp_directory_path() / "weft-nvcc-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw RuntimeError("no folder for nvcc's files could be made: " +
                               std::generic_category().message(errno));
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        files::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    files::path path_;
};

std::string contents_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// What it printed goes to the file; whether it ended well.
bool run(const std::vector<std::string>& command, const std::string& log) {
    std::vector<char*> arguments;
    for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = 0;
    const int failed = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        throw DeviceError(command[0] + " could not be started: " + std::generic_category().message(failed));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string find_nvcc() {
    constexpr std::array<std::string_view, 1> kInToolkit{"bin/nvcc"};
    constexpr std::array<std::string_view, 2> kInPackages{"nvidia/cu13/bin/nvcc",
                                                          "nvidia/cuda_nvcc/bin/nvcc"};
    if (std::string found = find_cuda_file(kInToolkit, kInPackages); !found.empty()) return found;
    const char* const path = std::getenv("PATH");
    for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
        const size_t end = std::min(rest.find(':'), rest.size());
        const std::string file = std::string(rest.substr(0, end)) + "/nvcc";
        if (access(file.c_str(), X_OK) == 0) return file;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    throw DeviceError(
        "nvcc was not found below CUDA_HOME and CUDA_PATH, in installed packages and in PATH: install "
        "NVIDIA's "
        "CUDA toolkit or the package nvidia-cuda-nvcc, or leave backend='nvcc' out");
}

CompiledByNvcc compile_by_nvcc(const std::string& code, const std::string& name,
                               const std::vector<std::string>& options, int capability) {
    const std::string nvcc = find_nvcc();
    const TemporaryFolder folder;
    const std::string source = folder.file(files::path(name).filename().string()), log = folder.file("log");
    std::ofstream(source, std::ios::binary) << code;
    CompiledByNvcc made;
    const auto compile = [&](const char* kind, const std::string& result) {
        std::vector<std::string> command{nvcc, kind, "-arch=sm_" + std::to_string(capability)};
        command.insert(command.end(), options.begin(), options.end());
        command.insert(command.end(), {source, "-o", result});
        if (!run(command, log)) {
            const std::string all = contents_of(log);
            throw CompileError("nvcc does not compile " + name + ":\n" + first_errors(all), all);
        }
        made.log = contents_of(log);
        return contents_of(result);
    };
    made.ptx = compile("-ptx", folder.file("module.ptx"));  // which tells of parameters
    made.cubin = compile("-cubin", folder.file("module.cubin"));
    return made;
}

}  // namespace weft
