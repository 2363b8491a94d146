// Loops that read at computed positions, and ask memory beforehand for what they come to (`prefetch`).
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "support/ir_testing.h"
#include "support/kernel_testing.h"

namespace weft {
namespace {

std::shared_ptr<const CompiledKernel> compile(const std::string& text, const std::string& cpu,
                                              std::string& llvm_ir) {
    const ir::Module module = ir::parse_and_check(text);
    codegen::CompileOptions options;
    options.cpu = cpu;
    codegen::CompiledTexts texts;
    auto kernel = codegen::compile_for_cpu(module, module.functions.back().name, options, &texts);
    llvm_ir = texts.llvm_ir;
    return kernel;
}

template <class T>
ArgumentWord word(T* pointer) {
    return reinterpret_cast<ArgumentWord>(pointer);
}

// Numbers that end where memory does: whoever reads one more faults.
class LastNumbers {
public:
    explicit LastNumbers(const std::vector<int64_t>& numbers) {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        const size_t bytes = numbers.size() * sizeof(int64_t), inner = (bytes + page - 1) / page * page;
        mapped_ = inner + page;
        begin_ = static_cast<char*>(
            mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(begin_ + inner, page, PROT_NONE);
        data_ = begin_ + inner - bytes;
        if (bytes != 0) std::memcpy(data_, numbers.data(), bytes);
    }
    LastNumbers(const LastNumbers&) = delete;
    LastNumbers& operator=(const LastNumbers&) = delete;
    ~LastNumbers() { munmap(begin_, mapped_); }
    char* data() const { return data_; }

private:
    char *begin_ = nullptr, *data_ = nullptr;
    size_t mapped_ = 0;
};

// The position is `computed` from %p, a number of %index.
std::string gather_kernel(const std::string& wish, const std::string& computed, const std::string& position) {
    return R"(
kernel @gather(%n: i64, %data: global f64[0, 8] readonly)" +
           wish + R"(, %index: global i64[8] readonly, %extent: i64, %out: global f64[8] scope 1) {
  parallel grid (%i) in (%n) {
    %p = load %index[%i]
)" + computed +
           R"(    %x = load %data[%i, )" + position + R"(]
    %y = add %x, %x
    store %out[%i], %y
  }
})";
}

constexpr int64_t kExtent = 1000;

TEST(GatherPrefetch, AsksForWhatPositionsFromMemoryLeadTo) {
    const struct {
        const char *computed, *position;
        bool asked;
    } cases[] = {
        {"", "%p", true},
        {"    %q = remainder %p, %extent\n", "%q", true},
        {"    %zero = const i64 0\n    %less = less %p, %zero\n    %end = add %p, %extent\n"
         "    %q = select %less, %end, %p\n",
         "%q", true},
        {"", "%i", false},
    };
    for (const char* cpu : {"x86-64-v2", "haswell", "skylake-avx512"}) {
        for (const auto& each : cases) {
            for (const bool wished : {true, false}) {
                SCOPED_TRACE(std::string(cpu) + "\n" + each.computed + each.position);
                std::string llvm_ir;
                compile(gather_kernel(wished ? " prefetch" : "", each.computed, each.position), cpu, llvm_ir);
                const bool asks = llvm_ir.find("call void @llvm.prefetch") != std::string::npos;
                EXPECT_EQ(asks, wished && each.asked) << llvm_ir;
                // Far elements are read one by one, near ones by vectors' gathers where there are some.
                const bool by_vectors =
                    llvm_ir.find("= call <8 x double> @llvm.masked.gather") != std::string::npos;
                if (asks) EXPECT_FALSE(by_vectors) << llvm_ir;
                if (cpu == std::string("skylake-avx512") && each.asked && each.computed[0] == 0)
                    EXPECT_EQ(by_vectors, !wished);
            }
        }
    }
}

TEST(GatherPrefetch, ReadsNoPositionThatTheLoopDoesNot) {
    std::vector<double> data(kExtent);
    for (size_t i = 0; i < data.size(); ++i) data[i] = 0.5 * static_cast<double>(i);
    for (const char* computed : {"", "    %q = remainder %p, %extent\n"}) {
        std::string llvm_ir;
        const auto kernel =
            compile(gather_kernel(" prefetch", computed, computed[0] == 0 ? "%p" : "%q"), "", llvm_ir);
        for (int64_t n = 0; n < 300; ++n) {
            std::vector<int64_t> index;
            for (int64_t i = 0; i < n; ++i) index.push_back(i * 379 % kExtent);
            const LastNumbers numbers(index);
            std::vector<double> out(index.size() + 1, -1);
            const ArgumentWord words[] = {static_cast<ArgumentWord>(n), word(data.data()),
                                          word(numbers.data()), static_cast<ArgumentWord>(kExtent),
                                          word(out.data())};
            const int64_t grid[] = {n};
            cpu_device().launch(*kernel, words, grid, 1);
            for (size_t i = 0; i < index.size(); ++i)
                ASSERT_EQ(out[i], 2 * data[static_cast<size_t>(index[i])]) << n;
            ASSERT_EQ(out.back(), -1);
        }
    }
}

}  // namespace
}  // namespace weft
