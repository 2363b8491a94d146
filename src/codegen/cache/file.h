// Files in the kernel cache's folder: opened without trusting what is there, read and written whole.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace weft::codegen {

class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int number) : number_(number) {}
    FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~FileDescriptor() {
        if (number_ < 0) return;
        const int error = errno;  // of what the owner tried, which is asked for afterwards
        close(number_);
        errno = error;
    }

    bool valid() const { return number_ >= 0; }
    int get() const { return number_; }
    int release() { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

struct FileStatus {
    int64_t size = 0;
    int64_t used_at = 0;  // the time of its last change, which every use renews
};

// Opens what must be a plain file of this user or root. Sets errno otherwise: ELOOP for a link and whatever
// else is not such a file.
FileDescriptor open_plain(int folder, const char* name, int flags, FileStatus* status = nullptr);

// From the beginning, as many bytes as `bytes` has room for, or as there are. False: the system refused.
bool read_all(int file, std::string& bytes);
bool write_all(int file, std::string_view bytes);

std::string error_text(int error);

}  // namespace weft::codegen
