// What arithmetic gives: fused multiply-adds on numbers in registers, on every core; the limit of products.
//
// weft_multiply_adds answers each line on its standard input with one of JSON: {"f4": ..., "f8": ...},
// thousand millions of multiply-adds a second.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>

namespace {

#ifdef __AVX512F__
constexpr int kBytes = 64, kSums = 24;
#else
constexpr int kBytes = 32, kSums = 12;
#endif

// Enough sums that none is waited for.
template <class T>
void multiply_add(int64_t steps) {
    typedef T Vector __attribute__((ext_vector_type(kBytes / sizeof(T))));
    Vector sums[kSums], factor = static_cast<T>(0.999), term = static_cast<T>(0.001);
#pragma clang loop unroll(full)
    for (int i = 0; i < kSums; ++i) sums[i] = static_cast<T>(i);
    asm volatile("" : "+v"(factor), "+v"(term));
    for (int64_t step = 0; step < steps; ++step) {
#pragma clang loop unroll(full)
        for (int i = 0; i < kSums; ++i) {
            sums[i] = __builtin_elementwise_fma(sums[i], factor, term);
            asm volatile("" : "+v"(sums[i]));
        }
    }
}

size_t cores() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<size_t>(CPU_COUNT(&set)) : 1;
}

template <class T>
double throughput() {
    constexpr int64_t kSteps = 400'000;
    const size_t threads = cores();
    const auto start = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> team;
        for (size_t k = 0; k < threads; ++k) team.emplace_back([] { multiply_add<T>(kSteps); });
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    constexpr double kOfThread = static_cast<double>(kSteps) * kSums * (kBytes / sizeof(T));
    return static_cast<double>(threads) * kOfThread / elapsed.count() / 1e9;
}

}  // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        std::printf("{\"f4\": %.4f, \"f8\": %.4f}\n", throughput<float>(), throughput<double>());
        std::fflush(stdout);
    }
}
