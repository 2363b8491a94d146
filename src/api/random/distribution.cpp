#include "api/random/distribution.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "api/random/filled.h"
#include "api/random/random.h"
#include "core/threads/interrupt.h"
#include "execution/evaluate.h"
#include "random/bit_stream.h"
#include "weft/errors.h"
#include "weft/operations.h"
#include "weft/ops.h"

namespace weft {

namespace {

using distributions::check;
using distributions::Constraint;
using distributions::Numbers;
using distributions::Parameter;

// Reads an array on the host over a shape that it broadcasts to, from element to element.
class Walk {
public:
    Walk(const array& values, const Dims& shape)
        : kept_(move_to(values, cpu_device())), buffer_(evaluate_storage(*kept_.storage())), shape_(shape) {
        strides_.resize(shape.size(), 0);
        const size_t skipped = shape.size() - kept_.shape().size();
        for (size_t k = 0; k < kept_.shape().size(); ++k)
            strides_[k + skipped] = kept_.shape()[k] == 1 ? 0 : kept_.strides()[k];
        at_ = buffer_->data() + kept_.offset();
        place_.resize(shape.size(), 0);
    }
    template <class T>
    T get() const {
        T value;
        std::memcpy(&value, at_, sizeof value);
        return value;
    }
    void next() {
        for (size_t k = shape_.size(); k-- > 0;) {
            at_ += strides_[k];
            if (++place_[k] < shape_[k]) return;
            at_ -= strides_[k] * shape_[k];
            place_[k] = 0;
        }
    }

private:
    array kept_;
    BufferPtr buffer_;
    const Dims& shape_;
    Dims strides_, place_;
    const char* at_ = nullptr;
};

Dims shape_of_draws(std::span<const array> parameters, const std::optional<Dims>& shape) {
    std::vector<const Dims*> shapes;
    if (shape) shapes.push_back(&*shape);
    for (const array& each : parameters) shapes.push_back(&each.shape());
    if (!shape) return broadcast_shapes(shapes);
    const Dims together = broadcast_shapes(shapes);
    if (together != *shape) {
        throw ValueError("Output size " + tuple_text(*shape) +
                         " is not compatible with broadcast dimensions of inputs " + tuple_text(together) +
                         ".");
    }
    return *shape;
}

bool is_named(const distributions::Distribution& distribution, std::string_view name) {
    return distribution.name == name;
}

// loc + scale * x, where all threads and kernels draw x; nothing for other distributions, and few numbers.
std::optional<array> draw_scaled(const Draws& from, const distributions::Distribution& distribution,
                                 std::span<const Argument> parameters, const Dims& shape) {
    constexpr int64_t kFew = 1024;
    if (generator_of(from.source) == nullptr || element_count(shape) < kFew) return std::nullopt;
    const auto drawn = [&](Distribution standard) {
        return draw(from.source, standard, shape, ScalarType::kFloat64);
    };
    if (is_named(distribution, "uniform"))
        return add(parameters[0], multiply(parameters[1], drawn(Distribution::kUniform)));
    if (is_named(distribution, "normal"))
        return add(parameters[0], multiply(parameters[1], drawn(Distribution::kNormal)));
    if (is_named(distribution, "exponential"))
        return multiply(parameters[0], drawn(Distribution::kExponential));
    if (is_named(distribution, "random")) return drawn(Distribution::kUniform);
    if (is_named(distribution, "standard_normal")) return drawn(Distribution::kNormal);
    if (is_named(distribution, "standard_exponential")) return drawn(Distribution::kExponential);
    return std::nullopt;
}

}  // namespace

void check_numbers(const distributions::Distribution& distribution, const Numbers& numbers) {
    for (size_t k = 0; k < static_cast<size_t>(distribution.count); ++k) {
        const Parameter& parameter = distribution.parameters[k];
        check(parameter, parameter.is_whole ? static_cast<double>(numbers.whole[k]) : numbers.real[k], false);
    }
}

std::string tuple_text(const Dims& shape) {
    std::string text = "(";
    for (size_t k = 0; k < shape.size(); ++k) text += (k == 0 ? "" : ", ") + std::to_string(shape[k]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

void check_elements(const Parameter& parameter, const array& values) {
    if (parameter.constraint == Constraint::kNone) return;
    Walk walk(values, values.shape());
    for (int64_t i = values.size(); i > 0; --i, walk.next())
        check(parameter, parameter.is_whole ? static_cast<double>(walk.get<int64_t>()) : walk.get<double>(),
              true);
}

template <class T>
std::vector<T> elements_in_order(const array& values) {
    std::vector<T> result;
    result.reserve(static_cast<size_t>(values.size()));
    Walk walk(values, values.shape());
    for (int64_t i = values.size(); i > 0; --i, walk.next()) result.push_back(walk.get<T>());
    return result;
}
template std::vector<double> elements_in_order<double>(const array&);
template std::vector<int64_t> elements_in_order<int64_t>(const array&);
template std::vector<uint64_t> elements_in_order<uint64_t>(const array&);

array draw_numbers(const Draws& from, const distributions::Distribution& distribution, const Numbers& numbers,
                   const Dims& shape) {
    const std::vector<Argument> arguments(numbers.real.begin(), numbers.real.end());
    if (std::optional<array> scaled = draw_scaled(from, distribution, arguments, shape))
        return std::move(*scaled);
    Rewind rewind(from.source, from.spare);
    Bits bits(from.source, from.spare);
    const DType dtype = distribution.is_whole ? ScalarType::kInt64 : ScalarType::kFloat64;
    array result = filled(shape, dtype, [&](char* data, int64_t count) {
        const auto size = static_cast<size_t>(count);
        if (distribution.is_whole) {
            distribution.fill_whole(bits, numbers, {reinterpret_cast<int64_t*>(data), size});
        } else {
            distribution.fill_real(bits, numbers, {reinterpret_cast<double*>(data), size});
        }
    });
    rewind.keep();
    return result;
}

array draw_numbers(const Draws& from, const distributions::Distribution& distribution,
                   std::span<const array> parameters, const std::optional<Dims>& shape) {
    for (size_t k = 0; k < parameters.size(); ++k) check_elements(distribution.parameters[k], parameters[k]);
    const Dims dims = shape_of_draws(parameters, shape);
    const std::vector<Argument> arguments(parameters.begin(), parameters.end());
    if (std::optional<array> scaled = draw_scaled(from, distribution, arguments, dims))
        return std::move(*scaled);
    Rewind rewind(from.source, from.spare);
    Bits bits(from.source, from.spare);
    const DType dtype = distribution.is_whole ? ScalarType::kInt64 : ScalarType::kFloat64;
    array result = filled(dims, dtype, [&](char* data, int64_t count) {
        std::vector<Walk> walks;
        for (const array& each : parameters) walks.emplace_back(each, dims);
        PausePoints pauses;
        for (int64_t i = 0; i < count; ++i, data += sizeof(double), pauses.next_iteration()) {
            Numbers numbers;
            for (size_t k = 0; k < walks.size(); ++k) {
                if (distribution.parameters[k].is_whole) {
                    numbers.whole[k] = walks[k].get<int64_t>();
                } else {
                    numbers.real[k] = walks[k].get<double>();
                }
                walks[k].next();
            }
            if (distribution.is_whole) {
                const int64_t drawn = distribution.draw_whole(bits, numbers);
                std::memcpy(data, &drawn, sizeof drawn);
            } else {
                const double drawn = distribution.draw_real(bits, numbers);
                std::memcpy(data, &drawn, sizeof drawn);
            }
        }
    });
    rewind.keep();
    return result;
}

array draw_standard_gamma32(const Draws& from, float shape, const Dims& size) {
    check({"shape", Constraint::kNonNegative}, static_cast<double>(shape), false);
    Rewind rewind(from.source);
    Bits bits(from.source);
    array result = filled(size, ScalarType::kFloat32, [&](char* data, int64_t count) {
        distributions::fill_standard_gamma32(bits, shape,
                                             {reinterpret_cast<float*>(data), static_cast<size_t>(count)});
    });
    rewind.keep();
    return result;
}

array draw_standard_gamma32(const Draws& from, const array& shape, const std::optional<Dims>& size) {
    check_elements({"shape", Constraint::kNonNegative}, astype(shape, ScalarType::kFloat64));
    const Dims dims = shape_of_draws(std::span(&shape, 1), size);
    Rewind rewind(from.source);
    Bits bits(from.source);
    array result = filled(dims, ScalarType::kFloat32, [&](char* data, int64_t count) {
        Walk walk(shape, dims);
        for (int64_t i = 0; i < count; ++i, data += sizeof(float), walk.next()) {
            const float drawn = distributions::standard_gamma32(bits, walk.get<float>());
            std::memcpy(data, &drawn, sizeof drawn);
        }
    });
    rewind.keep();
    return result;
}

}  // namespace weft
