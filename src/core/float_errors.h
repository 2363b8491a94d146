// Floating-point errors that a program asked to hear of (np.errstate): which there are, whether anybody
// asked, and who is told. While nobody asked, that costs the look at one number.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace weft {

// NumPy's numbers, which programs see.
enum class FloatError : uint8_t { kDivide = 1, kOver = 2, kUnder = 4, kInvalid = 8 };
using FloatErrors = unsigned;  // of these, added
constexpr FloatErrors bit(FloatError error) { return static_cast<FloatErrors>(error); }

class FloatErrorListener {
public:
    // What the calling thread's context wants to hear of.
    virtual FloatErrors wanted() = 0;
    // `name` is the operation's, as NumPy's messages have it. May throw.
    virtual void report(FloatErrors errors, std::string_view name) = 0;

protected:
    ~FloatErrorListener() = default;
};

// Null is nobody, as it is at first. The listener lives as long as the process.
void set_float_error_listener(FloatErrorListener* listener);
FloatErrorListener* float_error_listener();

// How many contexts want to hear of something.
extern std::atomic<int> float_error_contexts;
inline bool float_errors_watched() { return float_error_contexts.load(std::memory_order_relaxed) > 0; }

// While one lives, what this thread calls is on scalars, which NumPy's messages say; and integers that
// overflow are an error.
class ScalarOperation {
public:
    explicit ScalarOperation(bool is_one);
    ~ScalarOperation();
    ScalarOperation(const ScalarOperation&) = delete;
    ScalarOperation& operator=(const ScalarOperation&) = delete;
    static bool is_current();

private:
    bool is_one_;
};

}  // namespace weft
