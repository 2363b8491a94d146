// Which headers a source of CUDA C++ may read, so that what is kept on disk is not used when one has changed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct ReadHeaders {
    std::string digest;    // of all that decides what is included
    bool complete = true;  // false: an #include names no file itself, so it is not known what is read
};

// `folders`: in which the options let the compiler look; `toolkit`: those of CUDA, whose headers are taken
// for unchanged as long as its version is. Conditions are not followed: what might be included counts.
ReadHeaders read_headers(std::span<const std::string> sources, std::span<const std::string> folders,
                         std::span<const std::string> toolkit);

// The folders that options add: -I, --include-path, and so on.
std::vector<std::string> include_folders_in(std::span<const std::string> options);

// Where CUDA's own headers are: below CUDA_HOME or CUDA_PATH, in installed packages, in the usual place; and
// CuPy's, for programs that include <cupy/complex.cuh>.
std::vector<std::string> toolkit_folders();

}  // namespace weft
