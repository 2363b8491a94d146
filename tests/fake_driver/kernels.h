// What a module of weft's holds, as this library runs it: kernels by the kernel IR in the comments of weft's
// PTX, compiled for the CPU, programs in C++ by the functions that are compiled into it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/ptx/launches/printed.h"
#include "device/kernel.h"
#include "fibers.h"
#include "source_image.h"

namespace weft::fake_driver {

// A kernel and how many words its arguments are. Of a launch of a CUDA-style kernel it is a function that
// runs all of the blocks, and the words are those of the function and the two for errors.
struct Kernel {
    std::shared_ptr<const CompiledKernel> compiled{};
    size_t words = 0;
    std::shared_ptr<const CompiledFunction> launch{};
    bool meets_grid = false;
    codegen::PrintedBySite printed{};  // by the text in the PTX
};

// What the function does, with errors as a GPU tells them.
void run_launch(const Kernel& kernel, const uint64_t* words);

// Of the module's text; none where there is no kernel IR in it. Compiled once in a process. `linked` has the
// functions of other machine code that they call; or null.
const std::vector<Kernel>& kernels_in(const std::string& text,
                                      const std::shared_ptr<const SourceImage>& linked);
// Writes the kernel IR of all that was compiled so far into a file; compiles what is in such a file, so that
// children of a fork have it.
void write_kernels(const std::string& path);
void compile_kernels(const std::string& path);
// By the name that it has on a GPU; null where there is none.
ProgramEntry program_entry(const char* name);

}  // namespace weft::fake_driver
