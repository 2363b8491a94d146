// PTX in tests: assembled by CUDA's ptxas where there is one, which reports registers and spills.
#pragma once

#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "codegen/ptx/compiler.h"
#include "device/cuda/kernel_image.h"

namespace weft::testing_ptx {

struct Assembled {
    bool accepted = false;
    int registers = 0;
    int spilled = 0;  // bytes stored and loaded
    int stack = 0;    // bytes
    std::string messages;
};

// CUDA_HOME's, or the toolkit's in its usual place, or what PATH has; empty: there is none.
inline std::string find_ptxas() {
    std::string candidates;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* value = std::getenv(variable)) candidates += std::string(value) + "/bin:";
    }
    candidates += "/usr/local/cuda/bin:";
    if (const char* path = std::getenv("PATH")) candidates += path;
    for (size_t begin = 0; begin < candidates.size();) {
        const size_t end = std::min(candidates.find(':', begin), candidates.size());
        const std::string file = candidates.substr(begin, end - begin) + "/ptxas";
        if (access(file.c_str(), X_OK) == 0) return file;
        begin = end + 1;
    }
    return {};
}

inline int number_before(const std::string& text, const std::string& what) {
    const size_t end = text.find(what);
    if (end == std::string::npos) return 0;
    size_t begin = end;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
    return std::atoi(text.substr(begin, end - begin).c_str());
}

// As code that could be linked, which is how the driver assembles.
// For that GPU, or for the image's compute capability.
inline Assembled assemble(const std::string& ptxas, const CudaKernelImage& image, std::string target = "") {
    if (target.empty()) target = "sm_" + std::to_string(image.sm);
    char path[] = "/tmp/weft-ptx-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0) return {};
    close(file);
    std::ofstream(path) << image.ptx;
    const std::string command = ptxas + " -v -c -arch=" + target + " -o /dev/null " + path + " 2>&1";
    Assembled result;
    if (FILE* pipe = popen(command.c_str(), "r")) {
        char buffer[4096];
        while (const size_t count = fread(buffer, 1, sizeof(buffer), pipe))
            result.messages.append(buffer, count);
        result.accepted = pclose(pipe) == 0;
    }
    std::remove(path);
    result.registers = number_before(result.messages, " registers");
    result.spilled = number_before(result.messages, " bytes spill stores") +
                     number_before(result.messages, " bytes spill loads");
    result.stack = number_before(result.messages, " bytes stack frame");
    return result;
}

inline size_t count_of(const std::string& text, const std::string& what) {
    size_t count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size()))
        ++count;
    return count;
}

// What exact kernels have none of: contraction, arithmetic whose rounding ptxas may choose, denormals
// flushed.
inline std::string inexact_arithmetic(const std::string& ptx) {
    for (const char* bad :
         {"add.f32", "add.f64", "mul.f32", "mul.f64", "sub.f32", "sub.f64", ".ftz", ".approx", "div.full"}) {
        if (ptx.find(bad) != std::string::npos) return bad;
    }
    return {};
}

// The first of the largest of each row, as the graph lowers it: nan is larger than all.
constexpr const char* kArgmaxOfRows = R"(
kernel @argmax(%rows: i64, %columns: i64, %a: global f32[?, 4] readonly, %out: global i64[8] scope 1) {
  parallel grid (%i) in (%rows) {
    %lowest = const f32 -inf
    %none = const i64 9223372036854775807
    %best, %at = reduce %k in %columns lanes 32 block 512 with (%lowest, %none) {
      %x = load %a[%i, %k]
      yield %x, %k
    } combine (%l, %li, %r, %ri) {
      %more = greater %r, %l
      %same = equal %r, %l
      %rn = isnan %r
      %ln = isnan %l
      %number = logical_not %ln
      %better = logical_and %rn, %number
      %strictly = logical_or %more, %better
      %both = logical_and %rn, %ln
      %tie = logical_or %same, %both
      %earlier = less %ri, %li
      %first = logical_and %tie, %earlier
      %take = logical_or %strictly, %first
      %value = select %take, %r, %l
      %index = select %take, %ri, %li
      yield %value, %index
    }
    store %out[%i], %at
  }
})";

}  // namespace weft::testing_ptx
