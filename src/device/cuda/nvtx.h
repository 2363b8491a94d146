// Ranges that NVIDIA's profilers show (NVTX), by the library that carries its functions: libnvtx3interop of
// CUDA 13, libnvToolsExt of CUDA 12, or the file that WEFT_NVTX names. Where there is none, nothing happens.
#pragma once

namespace weft::cuda {

bool has_nvtx();  // looks for the library at the first call
// Of the calling thread; ranges nest.
void begin_nvtx_range(const char* text);
void end_nvtx_range();

}  // namespace weft::cuda
