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

// Exits of every kind: @pairs looks in a function for factors below %limit of each target, which is 6 and
// more.
constexpr std::string_view kPairs = R"(
function @pair(%target: i64, %limit: i64) : i64 {
  %zero = const i64 0
  %one = const i64 1
  %three = const i64 3
  %twenty = const i64 20
  %big = greater %target, %twenty
  if %big {
    %nothing = const i64 -1000
    return %nothing
  }
  %count = for %a = %zero to %limit step %one with (%seen = %zero) {
    %rest = remainder %a, %three
    %skips = equal %rest, %zero
    if %skips {
      continue %seen
    }
    %in_row = for %b = %zero to %limit step %one with (%s = %seen) {
      %product = multiply %a, %b
      %found = equal %product, %target
      if %found {
        %hundred = const i64 100
        %tens = multiply %a, %hundred
        %code = add %tens, %b
        return %code
      }
      %past = greater %product, %target
      if %past {
        break %s
      }
      %s1 = add %s, %one
      yield %s1
    }
    yield %in_row
  }
  %looked_at = negative %count
  return %looked_at
}
kernel @pairs(%n: i64, %limit: i64, %out: global i64[8] scope 1) {
  %six = const i64 6
  parallel grid (%i) in (%n) {
    %target = add %i, %six
    %code = call @pair(%target, %limit) : i64
    store %out[%i], %code
  }
})";
inline int64_t pair_of(int64_t target, int64_t limit) {
    if (target > 20) return -1000;
    int64_t seen = 0;
    for (int64_t a = 0; a < limit; a++) {
        if (a % 3 == 0) continue;
        for (int64_t b = 0; b < limit; b++) {
            if (a * b == target) return a * 100 + b;
            if (a * b > target) break;
            seen++;
        }
    }
    return -seen;
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
