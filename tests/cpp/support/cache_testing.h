// What the tests of the kernel cache share: a folder of their own, files, work in another process.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace weft::testing_cache {

// Removed with its owner. Its parents are root's and /tmp, which is sticky.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = "/tmp/weft-cache-test-XXXXXX";
        EXPECT_NE(mkdtemp(pattern.data()), nullptr);
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

inline std::string kernels_name() { return "kernels-" + std::to_string(geteuid()); }

inline std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// The entries of the cache whose folder is `path`.
inline std::vector<std::string> entries_of(const std::string& path) {
    std::vector<std::string> found;
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(path + "/" + kernels_name(), none))
        if (file.path().filename().string().size() == 64) found.push_back(file.path());
    return found;
}

inline mode_t mode_of(const std::string& path) {
    struct stat status{};
    EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
}

// Starts `work` in a process of its own, which exits with what it returns.
template <class Work>
pid_t start(const Work& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    return child;
}

inline int finish(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

// The exit status of `work` in a process of its own; -1 where a signal ended it.
template <class Work>
int run_apart(const Work& work) {
    const int status = finish(start(work));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace weft::testing_cache
