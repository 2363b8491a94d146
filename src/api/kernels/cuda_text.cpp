#include "api/kernels/cuda_text.h"

#include <algorithm>

#include "lang/c_source/numbers.h"

namespace weft {

namespace {

using lang::c_source::ArgumentKind;
using lang::c_source::c_name;
using lang::c_source::Parameter;

constexpr const char* kComplex =
    "#if __has_include(<cupy/complex.cuh>)\n"
    "#include <cupy/complex.cuh>\n"
    "#elif defined(__CUDACC_RTC__)\n"
    "#include <cuda/std/complex>\n"
    "using cuda::std::complex;\n"
    "using cuda::std::conj;\n"
    "using cuda::std::arg;\n"
    "using cuda::std::norm;\n"
    "using cuda::std::polar;\n"
    "using cuda::std::real;\n"
    "using cuda::std::imag;\n"
    "#else\n"
    "#include <complex>\n"
    "using std::complex;\n"
    "using std::conj;\n"
    "#endif\n";

// What headers of the host have, which NVRTC does not read.
constexpr const char* kNames = R"(#ifdef __CUDACC_RTC__
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef signed short int16_t;
typedef unsigned short uint16_t;
typedef signed int int32_t;
typedef unsigned int uint32_t;
typedef signed long long int64_t;
typedef unsigned long long uint64_t;
#endif
)";

constexpr const char* kHelpers = R"(
struct _weft_Loop {
    long long _size;
    __device__ long long size() const { return _size; }
};
template <class E, int rank>
struct _weft_Array {
    E* _elements;
    long long _size, _shape[rank == 0 ? 1 : rank];
    static constexpr int ndim = rank;
    __device__ E& operator[](long long k) const { return _elements[k]; }
    __device__ long long size() const { return _size; }
    __device__ const long long* shape() const { return _shape; }
};
)";

class Text {
public:
    explicit Text(const CudaParts& parts) : parts_(parts) {}

    const Parameter& parameter(size_t k) const {
        return k < parts_.inputs.size() ? parts_.inputs[k] : parts_.outputs[k - parts_.inputs.size()];
    }
    bool is_output(size_t k) const { return k >= parts_.inputs.size(); }

    std::string head(const std::string& code) const {
        std::string text = kNames;
        const auto has = [&](ScalarType wanted) {
            const auto is_one = [&](const Parameter& one) { return one.type == wanted; };
            return std::ranges::any_of(parts_.inputs, is_one) || std::ranges::any_of(parts_.outputs, is_one);
        };
        const std::string all = code + parts_.preamble;
        if (has(ScalarType::kFloat16) || all.find("float16") != all.npos)
            text += "#include <cuda_fp16.h>\ntypedef __half float16;\n";
        if (has(ScalarType::kBFloat16) || all.find("bfloat16") != all.npos)
            text += "#include <cuda_bf16.h>\ntypedef __nv_bfloat16 bfloat16;\n";
        if (has(ScalarType::kComplex64) || has(ScalarType::kComplex128) || all.find("complex") != all.npos)
            text += kComplex;
        for (const auto& [name, type] : parts_.types) text += "typedef " + c_name(type) + " " + name + ";\n";
        text += section("preamble", parts_.preamble);
        return text + kHelpers;
    }

    // Errors have the lines of the part that they are in.
    std::string section(const std::string& part, const std::string& code) const {
        if (code.empty()) return {};
        return "#line 1 \"the " + part + " of " + parts_.name + "\"\n" + code + "\n";
    }

    std::string parameters() const {
        std::string text;
        for (size_t k = 0; k < parts_.arguments.size(); ++k) {
            const std::string number = std::to_string(k);
            if (parts_.arguments[k].kind == ArgumentKind::kNumber) {
                text += ", " + c_name(parameter(k).type) + " " + parameter(k).name;
                continue;
            }
            text += std::string(is_output(k) ? ", void* " : ", const void* ") + "_weft_" + number;
            if (parts_.arguments[k].kind != ArgumentKind::kRaw) continue;
            text += ", long long _weft_size" + number;
            for (size_t axis = 0; axis < parts_.arguments[k].rank; ++axis)
                text += ", long long _weft_shape" + number + "_" + std::to_string(axis);
        }
        return text;
    }

    // What stands before the loop.
    std::string arrays() const {
        std::string text;
        for (size_t k = 0; k < parts_.arguments.size(); ++k) {
            if (parts_.arguments[k].kind == ArgumentKind::kNumber) continue;
            const std::string number = std::to_string(k);
            const std::string element = (is_output(k) ? "" : "const ") + c_name(parameter(k).type);
            const std::string pointer = "(" + element + "*)_weft_" + number;
            if (parts_.arguments[k].kind == ArgumentKind::kArray) {
                text += "    " + element + "* const _weft_raw_" + parameter(k).name + " = " + pointer + ";\n";
                continue;
            }
            text += "    const _weft_Array<" + element + ", " + std::to_string(parts_.arguments[k].rank) +
                    "> " + parameter(k).name + "{" + pointer + ", _weft_size" + number + ", {";
            for (size_t axis = 0; axis < parts_.arguments[k].rank; ++axis)
                text += (axis == 0 ? "" : ", ") + ("_weft_shape" + number + "_" + std::to_string(axis));
            text += "}};\n";
        }
        return text;
    }

    // One element of each array, from the place that the expression tells.
    std::string elements(bool outputs, const std::string& place) const {
        std::string text;
        for (size_t k = 0; k < parts_.arguments.size(); ++k) {
            if (parts_.arguments[k].kind != ArgumentKind::kArray || is_output(k) != outputs) continue;
            const std::string& name = parameter(k).name;
            text += "        " + std::string(outputs ? "" : "const ") + c_name(parameter(k).type) + "& " +
                    name + " = _weft_raw_" + name + "[" + place + "];\n";
        }
        return text;
    }

    // The size, unless a parameter is called so.
    std::string size_name() const {
        for (size_t k = 0; k < parts_.arguments.size(); ++k) {
            if (parameter(k).name == "n") return {};
        }
        return "    const long long n = _weft_count;\n";
    }

private:
    const CudaParts& parts_;
};

}  // namespace

std::string text_of(const CudaElements& kernel) {
    const Text text(kernel);
    return text.head(kernel.before + kernel.body + kernel.after) + "extern \"C\" __global__ void " +
           kernel.name + "(long long _weft_count" + text.parameters() +
           ") {\n    const _weft_Loop _ind{_weft_count};\n" + text.size_name() + text.arrays() +
           text.section("code before the loop", kernel.before) +
           "    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < _weft_count;\n"
           "         i += (long long)gridDim.x * blockDim.x) {\n" +
           text.elements(false, "i") + text.elements(true, "i") + text.section("operation", kernel.body) +
           "        ;\n    }\n" + text.section("code after the loop", kernel.after) + "}\n";
}

std::string text_of(const CudaReduction& kernel, int threads) {
    const Text text(kernel);
    const std::string count = std::to_string(threads);
    const std::string type =
        kernel.partial_type.empty() ? c_name(kernel.outputs[0].type) : kernel.partial_type;
    std::string combine = kernel.combine;
    std::ranges::replace(combine, '\n', ' ');
    std::string all = text.head(kernel.map + combine + kernel.finish + kernel.identity + type);
    all += "typedef " + type + " _type_reduce;\n";
    // Parameters of a macro, so that what they stand for needs no type that the program does not name.
    all += "#define _weft_combine(a, b) (" + combine + ")\n";
    all += "struct alignas(16) _weft_Slot { char bytes[sizeof(_type_reduce)]; };\n";
    all += "#define _weft_part_of(k) (*(_type_reduce*)_weft_slots[k].bytes)\n";
    all += "extern \"C\" __global__ void " + kernel.name + "(long long _weft_count, long long _weft_results" +
           text.parameters() + ") {\n    __shared__ _weft_Slot _weft_slots[" + count + "];\n" +
           "    const _weft_Loop _in_ind{_weft_count}, _out_ind{_weft_results};\n"
           "    const long long _weft_length = _weft_count / _weft_results;\n" +
           text.arrays() +
           "    for (long long _weft_result = blockIdx.x; _weft_result < _weft_results; _weft_result += "
           "gridDim.x) {\n"
           "        _type_reduce _weft_part = _type_reduce(" +
           kernel.identity +
           ");\n        for (long long _J = threadIdx.x; _J < _weft_length; _J += " + count + ") {\n" +
           text.elements(false, "_weft_result * _weft_length + _J") +
           "        _type_reduce _weft_one = static_cast<_type_reduce>(\n" +
           text.section("map expression", kernel.map) +
           "        );\n        _weft_part = _weft_combine(_weft_part, _weft_one);\n        }\n";
    all +=
        "        _weft_part_of(threadIdx.x) = _weft_part;\n        __syncthreads();\n"
        "        for (int _weft_half = " +
        count +
        " / 2; _weft_half > 0; _weft_half /= 2) {\n"
        "            if (threadIdx.x < _weft_half) {\n"
        "                _type_reduce _weft_left = _weft_part_of(threadIdx.x);\n"
        "                _type_reduce _weft_right = _weft_part_of(threadIdx.x + _weft_half);\n"
        "                _weft_part_of(threadIdx.x) = _weft_combine(_weft_left, _weft_right);\n            "
        "}\n"
        "            __syncthreads();\n        }\n";
    all += "        if (threadIdx.x == 0) {\n        _type_reduce a = _weft_part_of(0);\n" +
           text.elements(true, "_weft_result") + text.section("post-map expression", kernel.finish) +
           "        ;\n        }\n        __syncthreads();\n    }\n}\n";
    return all;
}

}  // namespace weft
