// What memory gives: a[i] = b[i] + s * c[i] on every core, a written by non-temporal stores; the limit of the
// benchmarks.
//
// weft_triad answers each line on its standard input with one of JSON: {"gigabytes_per_second": ...}, of the
// 24 bytes that an element moves. The arrays, 80 MB each by default (weft_triad ELEMENTS), are larger than
// the caches.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>

namespace {

constexpr size_t kLine = 8;  // float64s in a cache line
using Vector = double __attribute__((vector_size(kLine * sizeof(double))));

void triad(Vector* a, const Vector* b, const Vector* c, double s, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) __builtin_nontemporal_store(b[i] + s * c[i], a + i);
}

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

std::unique_ptr<Vector[], Free> allocate(size_t lines) {
    return std::unique_ptr<Vector[], Free>(
        static_cast<Vector*>(std::aligned_alloc(sizeof(Vector), lines * sizeof(Vector))));
}

size_t cores() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<size_t>(CPU_COUNT(&set)) : 1;
}

}  // namespace

int main(int count, char** words) {
    const size_t lines = (count > 1 ? std::strtoull(words[1], nullptr, 10) : 10'000'000) / kLine;
    const auto a = allocate(lines), b = allocate(lines), c = allocate(lines);
    const size_t threads = cores();
    const auto on_all_cores = [&](const auto& work) {
        std::vector<std::jthread> team;
        for (size_t k = 0; k < threads; ++k)
            team.emplace_back([&, k] { work(lines * k / threads, lines * (k + 1) / threads); });
    };
    // Each core touches its part first, so that it lies near.
    on_all_cores([&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) a[i] = b[i] = c[i] = Vector{} + 1.0;
    });
    for (std::string line; std::getline(std::cin, line);) {
        const auto start = std::chrono::steady_clock::now();
        on_all_cores([&](size_t begin, size_t end) { triad(a.get(), b.get(), c.get(), 3.0, begin, end); });
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        std::printf("{\"gigabytes_per_second\": %.4f}\n",
                    static_cast<double>(3 * lines * sizeof(Vector)) / elapsed.count() / 1e9);
        std::fflush(stdout);
    }
    return a[lines / 2][0] == 0;  // the compiler may not drop the stores
}
