// Kernels as texts that several tests run: by the oracle, after passes, compiled, by blocks, on GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::testing_kernels {

// The sums of rows: @row_sums of %rows and %columns, reduced in `lanes` and `block`. The strides are those of
// the text form, as "?, 8".
inline std::string row_sums(const std::string& type, int64_t lanes, int64_t block, const std::string& strides,
                            const std::string& out_stride) {
    return "kernel @row_sums(%rows: i64, %columns: i64, %a: global " + type + "[" + strides +
           "] readonly, %out: global " + type + "[" + out_stride + "] scope 1) {" + R"(
  parallel grid (%i) in (%rows) {
    %zero = const )" +
           type + (type == "i64" ? " 0" : " 0.0") + R"(
    %sum = reduce %k in %columns lanes )" +
           std::to_string(lanes) + " block " + std::to_string(block) + R"( with (%zero) {
      %x = load %a[%i, %k]
      yield %x
    } combine (%left, %right) {
      %both = add %left, %right
      yield %both
    }
    store %out[%i], %sum
  }
})";
}

// The running sums of a row, one after another.
constexpr std::string_view kRunningSums = R"(
kernel @cumsum(%n: i64, %a: global f32[4] scope 1 readonly, %out: global f32[4] scope 2) {
  %zero = const f32 -0.0
  scan %i in %n with (%zero) {
    %x = load %a[%i]
    yield %x
  } combine (%l, %r) {
    %s = add %l, %r
    yield %s
  } consume (%k, %prefix) {
    store %out[%k], %prefix
  }
}
)";

}  // namespace weft::testing_kernels
