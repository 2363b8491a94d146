// What is there in CUDA C++ without a declaration, and is written in C++ itself: vectors such as float2, and
// functions that give results through pointers.
#include <array>
#include <string>
#include <string_view>

#include "lang/c_source/syntax/syntax.h"

namespace weft::lang::c_source {

namespace {

std::string vectors() {
    constexpr std::array<std::array<std::string_view, 2>, 12> kElements = {
        {{"char", "char"},
         {"uchar", "unsigned char"},
         {"short", "short"},
         {"ushort", "unsigned short"},
         {"int", "int"},
         {"uint", "unsigned int"},
         {"long", "long"},
         {"ulong", "unsigned long"},
         {"longlong", "long long"},
         {"ulonglong", "unsigned long long"},
         {"float", "float"},
         {"double", "double"}}};
    std::string text;
    for (const auto& [name, element] : kElements) {
        std::string members, parameters, values;
        for (const char member : {'x', 'y', 'z', 'w'}) {
            const bool is_first = member == 'x';
            members += std::string(is_first ? "" : ", ") + member;
            parameters += (is_first ? "" : ", ") + std::string(element) + " " + member;
            const std::string type = std::string(name) + std::to_string(member == 'w' ? 4 : member - 'x' + 1);
            text += "struct " + type + " { " + std::string(element) + " " + members + "; };\n";
            text += type + " make_" + type + "(" + parameters + ") { return {" + members + "}; }\n";
        }
    }
    return text;
}

constexpr std::string_view kResultsByPointers = R"(
void sincos(double x, double* s, double* c) { *s = sin(x); *c = cos(x); }
void sincosf(float x, float* s, float* c) { *s = sinf(x); *c = cosf(x); }
double modf(double x, double* whole) {
    *whole = trunc(x);
    return copysign(isinf(x) ? 0.0 : x - *whole, x);
}
float modff(float x, float* whole) {
    *whole = truncf(x);
    return copysignf(isinf(x) ? 0.0f : x - *whole, x);
}
double frexp(double x, int* exponent) {
    *exponent = 0;
    if (x == 0 || isnan(x) || isinf(x)) return x;
    if (fabs(x) < 1e-290) {
        x *= 18014398509481984.0;
        *exponent = -54;
    }
    int power = (int)floor(log2(fabs(x))) + 1;
    double part = ldexp(x, -power);
    if (fabs(part) >= 1) {
        part *= 0.5;
        ++power;
    }
    if (fabs(part) < 0.5) {
        part *= 2;
        --power;
    }
    *exponent += power;
    return part;
}
float frexpf(float x, int* exponent) { return (float)frexp((double)x, exponent); }
void sincospi(double x, double* s, double* c) { *s = sinpi(x); *c = cospi(x); }
void sincospif(float x, float* s, float* c) { *s = sinpif(x); *c = cospif(x); }
)";

// Whose rounding is that of plain operations, or which are as exact as the plain function at least.
constexpr std::string_view kIntrinsics = R"(
float __fadd_rn(float a, float b) { return a + b; }
float __fsub_rn(float a, float b) { return a - b; }
float __fmul_rn(float a, float b) { return a * b; }
float __fdiv_rn(float a, float b) { return a / b; }
float __frcp_rn(float a) { return 1.0f / a; }
float __fsqrt_rn(float a) { return sqrtf(a); }
float __frsqrt_rn(float a) { return (float)(1.0 / sqrt((double)a)); }
float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
double __dadd_rn(double a, double b) { return a + b; }
double __dsub_rn(double a, double b) { return a - b; }
double __dmul_rn(double a, double b) { return a * b; }
double __ddiv_rn(double a, double b) { return a / b; }
double __drcp_rn(double a) { return 1.0 / a; }
double __dsqrt_rn(double a) { return sqrt(a); }
double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
float __expf(float x) { return expf(x); }
float __exp10f(float x) { return exp10f(x); }
float __logf(float x) { return logf(x); }
float __log2f(float x) { return log2f(x); }
float __log10f(float x) { return log10f(x); }
float __sinf(float x) { return sinf(x); }
float __cosf(float x) { return cosf(x); }
float __tanf(float x) { return tanf(x); }
float __powf(float x, float y) { return powf(x, y); }
float __fdividef(float a, float b) { return a / b; }
float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
void __sincosf(float x, float* s, float* c) { *s = sinf(x); *c = cosf(x); }
double sinpi(double x) {
    double a = fmod(fabs(x), 2.0);
    const bool is_below = a >= 1;
    if (is_below) a -= 1;
    if (a > 0.5) a = 1 - a;
    const double s = a <= 0.25 ? sin(a * 3.14159265358979323846) : cos((0.5 - a) * 3.14159265358979323846);
    return is_below != signbit(x) ? -s : s;
}
double cospi(double x) {
    double a = fmod(fabs(x), 2.0);
    if (a > 1) a = 2 - a;
    const bool is_below = a > 0.5;
    if (is_below) a = 1 - a;
    const double c = a <= 0.25 ? cos(a * 3.14159265358979323846) : sin((0.5 - a) * 3.14159265358979323846);
    return is_below ? -c : c;
}
float sinpif(float x) { return (float)sinpi((double)x); }
float cospif(float x) { return (float)cospi((double)x); }
int __clz(int x) {
    unsigned int bits = x;
    for (int k = 1; k < 32; k *= 2) bits |= bits >> k;
    return 32 - __popc(bits);
}
int __clzll(long long x) {
    unsigned long long bits = x;
    for (int k = 1; k < 64; k *= 2) bits |= bits >> k;
    return 64 - __popcll(bits);
}
int __ffs(int x) { return x == 0 ? 0 : __popc((x & -x) - 1) + 1; }
int __ffsll(long long x) { return x == 0 ? 0 : __popcll((x & -x) - 1) + 1; }
unsigned int __brev(unsigned int x) {
    x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
    x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
    return (x >> 16) | (x << 16);
}
unsigned long long __brevll(unsigned long long x) {
    return ((unsigned long long)__brev((unsigned int)x) << 32) | __brev((unsigned int)(x >> 32));
}
unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a * b) >> 32);
}
int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    const unsigned long long low = 0xffffffffu;
    const unsigned long long first = (a & low) * (b & low);
    const unsigned long long second = (a >> 32) * (b & low) + (first >> 32);
    const unsigned long long third = (a & low) * (b >> 32) + (second & low);
    return (a >> 32) * (b >> 32) + (second >> 32) + (third >> 32);
}
int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
template <class T> T __ldg(const T* p) { return *p; }
template <class T> void swap(T& a, T& b) { T before = a; a = b; b = before; }
)";

KnownFunctions read() {
    static const SourceText source{"what is known without a declaration",
                                   vectors() + std::string(kIntrinsics) + std::string(kResultsByPointers)};
    Macros macros;
    KnownFunctions result;
    result.definitions = parse_definitions(tokenise(source, macros), result.types);
    result.types.hidden.clear();
    return result;
}

}  // namespace

const KnownFunctions& known_functions() {
    static const KnownFunctions functions = read();
    return functions;
}

}  // namespace weft::lang::c_source
