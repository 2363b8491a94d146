// CUDA C++ without a GPU: the fake NVRTC (nvrtc.cpp) compiles a source for the CPU, and wraps the library or
// object file as if it were machine code of a GPU; the fake driver loads that, and runs its kernels thread by
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::fake_driver {

// Bytes that begin as a cubin, or as LTO-IR, and hold others.
enum class ImageKind { kCubin, kLtoIr };
std::string wrap_image(ImageKind kind, std::string_view bytes);
// What such bytes hold, whose end is not told; empty where they are others.
std::string unwrap_image(const char* image);

// What a source says of each of its kernels and variables when it is loaded; the same struct is in the text
// that is put before sources.
struct SourceEntry {
    const SourceEntry* next;
    const char* expression;
    void* address;
    void (*run)(void* function, void** parameters);  // null: a variable
    int count;
    const int* sizes;
    const char* kinds;  // p: a pointer, f: floating, i: an integer, s: all else
};

struct SourcePlace {
    unsigned x, y, z;
};

// The variable of a library that has the PTX of weft that is linked with it.
inline constexpr const char* kLinkedPtx = "weft_linked_ptx";

// A library that is loaded, for as long as it lives.
class SourceImage {
public:
    // Null, and `error`, where it cannot be loaded.
    static std::shared_ptr<const SourceImage> load(std::string_view library, std::string& error);
    ~SourceImage();
    SourceImage(const SourceImage&) = delete;
    SourceImage& operator=(const SourceImage&) = delete;

    std::vector<const SourceEntry*> entries() const;
    // By the symbol of its function.
    const SourceEntry* kernel(const std::string& symbol) const;
    static std::string symbol_of(const SourceEntry& entry);
    struct Variable {
        void* address = nullptr;
        size_t bytes = 0;
    };
    Variable variable(const std::string& symbol) const;

    // `parameters`: the values, each behind the other as they were copied.
    void run(const SourceEntry& kernel, void** parameters, const std::array<unsigned, 3>& grid,
             const std::array<unsigned, 3>& block) const;

private:
    explicit SourceImage(void* library) : library_(library) {}
    void* library_;
};

}  // namespace weft::fake_driver
