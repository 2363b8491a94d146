// Times the kernel compiler and its kernels alone, from kernel IR: weft_kernel_bench [WEFT_CPU names...].
//
// For each kernel: milliseconds for a first and a later compilation, milliseconds a launch (the least of
// many), the bytes per second that makes, and the same on one thread.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "core/threads/thread_pool.h"
#include "device/device.h"
#include "ir/parser.h"
#include "ops/op.h"

namespace {

using namespace weft;

struct Case {
    const char* name;
    const char* text;  // a kernel whose parameters are buffers of the element type, then scalars
    ScalarType type;
    int buffers;
    std::vector<double> scalars;  // of the element type; the size comes last
    int64_t size;
    int64_t cost;
    bool reduction = false;  // the grid is one point
};

const char* const kLinear = R"(
kernel @linear(%a: global f64[8] readonly, %b: global f64[8] scope 1 readonly, %c: global f64[8] scope 2 readonly,
               %out: global f64[8] scope 3, %two: f64, %three: f64, %n: i64) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = load %b[%i]
    %z = load %c[%i]
    %p = multiply %two, %x
    %q = multiply %three, %y
    %r = multiply %q, %z
    %s = add %p, %r
    store %out[%i], %s
  }
})";

const char* const kBlackScholes = R"(
kernel @black_scholes(%spot: global T[B] readonly, %strike: global T[B] scope 1 readonly,
                      %years: global T[B] scope 2 readonly, %out: global T[B] scope 3, %rate: T, %minus_rate: T,
                      %volatility: T, %drift: T, %half: T, %one: T, %root: T, %n: i64) {
  parallel grid (%i) in (%n) {
    %s = load %spot[%i]
    %k = load %strike[%i]
    %t = load %years[%i]
    %rt = sqrt %t
    %spread = multiply %volatility, %rt
    %sk = divide %s, %k
    %l = log %sk
    %dt = multiply %drift, %t
    %num = add %l, %dt
    %d1 = divide %num, %spread
    %d2 = subtract %d1, %spread
    %z1 = multiply %d1, %root
    %z2 = multiply %d2, %root
    %e1 = erf %z1
    %e2 = erf %z2
    %o1 = add %one, %e1
    %o2 = add %one, %e2
    %n1 = multiply %half, %o1
    %n2 = multiply %half, %o2
    %mrt = multiply %minus_rate, %t
    %disc = exp %mrt
    %p1 = multiply %s, %n1
    %kd = multiply %k, %disc
    %p2 = multiply %kd, %n2
    %price = subtract %p1, %p2
    store %out[%i], %price
  }
})";

const char* const kUnary = R"(
kernel @unary(%a: global T[B] readonly, %out: global T[B] scope 1, %n: i64) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = OP %x
    store %out[%i], %y
  }
})";

const char* const kSum = R"(
kernel @sum(%a: global T[B] readonly, %out: global T[B] scope 1, %zero: T, %n: i64) {
  %one = const i64 1
  %m = add %one, %one
  parallel grid (%j) in (%one) {
    %r = reduce %i in %n lanes LANES block 1024 with (%zero) {
      %x = load %a[%i]
      yield %x
    } combine (%l, %r) {
      %s = add %l, %r
      yield %s
    }
    store %out[%j], %r
  }
})";

const char* const kLaplace = R"(
kernel @laplace(%u: global f64[16000, 8] readonly, %out: global f64[16000, 8] scope 1, %dx: f64, %dy: f64, %n: i64) {
  %one = const i64 1
  parallel grid (%i, %j) in (%n, %n) {
    %i1 = add %i, %one
    %i2 = add %i1, %one
    %j1 = add %j, %one
    %j2 = add %j1, %one
    %a = load %u[%i, %j1]
    %b = load %u[%i2, %j1]
    %c = load %u[%i1, %j]
    %d = load %u[%i1, %j2]
    %v = add %a, %b
    %h = add %c, %d
    %vy = multiply %v, %dy
    %hx = multiply %h, %dx
    %s = add %vy, %hx
    store %out[%i1, %j1], %s
  }
})";

std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
    for (const auto& [from, to] : words) {
        for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
            const auto is_word = [&](size_t i) {
                return i < text.size() &&
                       (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
            };
            if (is_word(at + from.size()) || (at > 0 && is_word(at - 1))) continue;
            text.replace(at, from.size(), to);
        }
    }
    return text;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run(const Case& item, const std::string& text, const std::string& cpu) {
    const ir::Module module = ir::parse(text);
    const ir::Function& kernel = module.functions.front();
    codegen::CompileOptions options;
    options.cpu = cpu;
    double compile[2];
    std::shared_ptr<const CompiledKernel> compiled;
    for (double& time : compile) {
        compiled = codegen::compile_for_cpu(module, kernel.name, options);
        time = compiled->compile_seconds;
    }

    const auto element = static_cast<size_t>(DType(item.type).itemsize());
    std::vector<BufferPtr> buffers;
    std::vector<ArgumentWord> words;
    for (int i = 0; i < item.buffers; ++i) {
        const bool single = item.reduction && i == item.buffers - 1;
        buffers.push_back(cpu_device().allocate(single ? element : static_cast<size_t>(item.size) * element));
        char* data = buffers.back()->data();
        for (int64_t k = 0; !single && k < item.size; ++k) {
            const double value = 0.2 + static_cast<double>(k * 7919 % 1000) / 600 + i * 0.01;
            if (item.type == ScalarType::kFloat64) reinterpret_cast<double*>(data)[k] = value;
            if (item.type == ScalarType::kFloat32)
                reinterpret_cast<float*>(data)[k] = static_cast<float>(value);
        }
        if (single) std::fill_n(data, element, '\0');
        words.push_back(reinterpret_cast<ArgumentWord>(data));
    }
    for (double scalar : item.scalars) {
        words.push_back(item.type == ScalarType::kFloat64
                            ? std::bit_cast<uint64_t>(scalar)
                            : std::bit_cast<uint32_t>(static_cast<float>(scalar)));
    }
    const bool plane = std::string_view(item.name).starts_with("laplace");
    const int64_t extent = plane ? 1998 : item.size;
    words.push_back(static_cast<ArgumentWord>(extent));
    std::vector<int64_t> grid = {item.reduction ? 1 : extent};
    if (plane) grid.push_back(extent);

    double best[2] = {1e9, 1e9};
    for (int threads = 1; threads <= 2; ++threads) {
        set_num_threads(threads == 1 ? 1 : 0);
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < 5 || seconds_since(begin) < 0.4; ++i) {
            const auto start = std::chrono::steady_clock::now();
            cpu_device().launch(*compiled, words, grid, item.cost);
            best[threads - 1] = std::min(best[threads - 1], seconds_since(start));
        }
    }
    const double bytes = static_cast<double>(item.size) * static_cast<double>(element) *
                         (item.reduction ? item.buffers - 1 : item.buffers);
    std::printf(
        "%-28s %-12s compile %5.1f %5.1f ms   run %8.3f ms %6.1f GB/s   one thread %8.3f ms  %7.3f ns an "
        "element\n",
        item.name, cpu.empty() ? "host" : cpu.c_str(), compile[0] * 1e3, compile[1] * 1e3, best[1] * 1e3,
        bytes / best[1] / 1e9, best[0] * 1e3, best[0] / static_cast<double>(item.size) * 1e9);
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> cpus(arguments + 1, arguments + count);
    if (cpus.empty()) cpus.emplace_back();
    for (const std::string& cpu : cpus) {
        run({"2*a + 3*b*c f64", kLinear, ScalarType::kFloat64, 4, {2, 3}, 10'000'000, 5}, kLinear, cpu);
        run({"2*a + 3*b*c f64 (L2)", kLinear, ScalarType::kFloat64, 4, {2, 3}, 10'000, 5}, kLinear, cpu);
        run({"laplace 2000^2 f64", kLaplace, ScalarType::kFloat64, 2, {0.25, 0.25}, 4'000'000, 8}, kLaplace,
            cpu);
        const std::vector<double> options = {0.02, -0.02, 0.3, 0.065, 0.5, 1, 0.7071067811865476};
        for (const bool wide : {true, false}) {
            const ScalarType type = wide ? ScalarType::kFloat64 : ScalarType::kFloat32;
            const std::vector<std::pair<std::string, std::string>> words = {{"T", wide ? "f64" : "f32"},
                                                                            {"B", wide ? "8" : "4"}};
            run({wide ? "Black-Scholes f64" : "Black-Scholes f32", kBlackScholes, type, 4, options, 2'000'000,
                 150},
                replaced(kBlackScholes, words), cpu);
            for (const char* op : {"exp", "log", "sin", "tanh", "erf", "sqrt"}) {
                auto more = words;
                more.emplace_back("OP", op);
                run({op, kUnary, type, 2, {}, 100'000, 30}, replaced(kUnary, more), cpu);
            }
            for (const char* lanes : {"8", "32", "64"}) {
                auto more = words;
                more.emplace_back("LANES", lanes);
                run({(std::string("sum, lanes ") + lanes).c_str(), kSum, type, 2, {0}, 100'000, 1, true},
                    replaced(kSum, more), cpu);
            }
        }
    }
    return 0;
}
