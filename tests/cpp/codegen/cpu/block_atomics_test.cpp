// Atomic operations of a block's threads, compiled, for every element type, scope, order and memory, as on
// the scalar oracle.
#include <cstring>
#include <string>
#include <vector>

#include "support/compiled_testing.h"
#include "support/ir_testing.h"

namespace weft::ir {
namespace {

bool has_atomics(ScalarType type) {
    const DType dtype(type);
    return !dtype.is_complex() && !dtype.is_bool();
}

// Small numbers, so that floats add up exactly in any order.
std::string text_of(ScalarType type, const std::string& op, const std::string& how, bool shared) {
    const std::string name(scalar_name(type));
    const std::string size = std::to_string(DType(type).itemsize());
    const std::string bins = shared ? "%bins" : "%out";
    const std::string where = shared ? "%bin" : "%mine";
    return "kernel @k(%points: i64, %out: global " + name + "[" + size + "] scope 1, %old: global " + name +
           "[" + size +
           "] scope 2) {\n"
           "  %threads = const i64 24\n  %three = const i64 3\n  %two = const i64 2\n"
           "  parallel grid (%p) in (%points) {\n"
           "    %bins = allocate shared " +
           name + "[" + size +
           "] size [3] scope 3\n"
           "    %first = multiply %p, %three\n"
           "    %start = multiply %p, %threads\n"
           "    parallel block (%t) in (%threads) {\n"
           "      %bin = remainder %t, %three\n"
           "      %mine = add %bin, %first\n"
           "      %inside = less %t, %three\n"
           "      %initial = cast %two to " +
           name +
           "\n"
           "      store " +
           bins + "[" + where +
           "], %initial if %inside\n"
           "      barrier\n"
           "      %parity = remainder %t, %two\n"
           "      %small = subtract %two, %parity\n"
           "      %x = cast %small to " +
           name +
           "\n"
           "      %before = atomic " +
           op + " " + bins + "[" + where + "], %x " + how +
           "\n"
           "      barrier\n"
           "      %result = load " +
           bins + "[" + where +
           "]\n"
           "      barrier\n"
           "      store %out[%mine], %result if %inside\n"
           // Of each pair of threads the one that expects what is there changes its own element.
           "      %place = add %start, %t\n"
           "      store %old[%place], %x\n"
           "      %seen = compare_exchange %old[%place], %initial, %result " +
           how +
           "\n"
           "      %again = compare_exchange %old[%place], %seen, %result " +
           how +
           "\n"
           "    }\n  }\n}\n";
}

TEST(BlockAtomics, EveryTypeScopeOrderAndMemory) {
    const char* const hows[] = {"relaxed block",          "sequential block", "relaxed device",
                                "acquire_release device", "relaxed system",   "sequential system"};
    for (int i = 0; i < kScalarTypeCount; ++i) {
        const auto type = static_cast<ScalarType>(i);
        if (!has_atomics(type)) continue;
        std::vector<std::string> ops = {"add", "multiply", "maximum", "minimum", "subtract"};
        if (DType(type).is_integer()) ops.insert(ops.end(), {"bitwise_and", "bitwise_or", "bitwise_xor"});
        for (size_t k = 0; k < ops.size(); ++k) {
            for (const bool shared : {false, true}) {
                const char* how = hows[(k + static_cast<size_t>(i) + (shared ? 3 : 0)) % std::size(hows)];
                const std::string text = text_of(type, ops[k], how, shared);
                SCOPED_TRACE(text);
                const Module module = parse_and_check(text);
                const auto size = static_cast<size_t>(DType(type).itemsize());
                constexpr int64_t kPoints = 4;
                constexpr char kUntouched = 0x33;
                std::vector<char> outs[2], olds[2];
                for (size_t way = 0; way < 2; ++way) {
                    outs[way].resize(kPoints * 3 * size, kUntouched);
                    olds[way].resize(kPoints * 24 * size);
                    OracleBuffer out = argument(outs[way]), old = argument(olds[way]);
                    out.strides = old.strides = {static_cast<int64_t>(size)};
                    if (way == 0) {
                        run(module, argument(kPoints), out, old);
                    } else {
                        run_compiled(module, argument(kPoints), out, old);
                    }
                }
                EXPECT_EQ(outs[1], outs[0]);
                EXPECT_EQ(olds[1], olds[0]);
                EXPECT_NE(outs[0], std::vector<char>(outs[0].size(), kUntouched));
            }
        }
    }
}

}  // namespace
}  // namespace weft::ir
