#include <algorithm>
#include <optional>
#include <vector>

#include "api/texts/views.h"
#include "core/threads/thread_pool.h"
#include "library/texts/stretches.h"
#include "library/texts/text_changes.h"
#include "library/texts/text_order.h"
#include "library/texts/text_search.h"
#include "weft/indexing.h"
#include "weft/ops.h"

namespace weft::texts {

namespace {

KeyRows rows_of(const TextKeys& keys) { return {keys.data(), keys.count(), keys.words()}; }

// The rows of a view along an axis.
class RowsAlongAxis {
public:
    RowsAlongAxis(const View& given, int64_t axis)
        : axis_(static_cast<size_t>(normalize_axis(axis, static_cast<int>(given.shape.size())))),
          view_(moved(given, axis_)),
          length_(view_.shape.back()),
          rows_(length_ == 0 ? 0 : element_count(view_.shape) / length_) {}

    size_t axis() const { return axis_; }
    const View& view() const { return view_; }
    const Dims& shape() const { return view_.shape; }
    int64_t length() const { return length_; }
    // Where a row begins, of elements with these strides.
    int64_t offset_of(int64_t row, const Dims& strides) const {
        int64_t offset = 0;
        for (size_t d = strides.size() - 1; d-- > 0; row /= view_.shape[d])
            offset += row % view_.shape[d] * strides[d];
        return offset;
    }

    // work(row, its texts) side by side where there are many, else one after another, each on all threads.
    template <class Work>
    void for_each(const Work& work) const {
        const WordCode code{&view_};
        const auto one = [&](int64_t row) {
            const char* const data = static_cast<const char*>(view_.data) + offset_of(row, view_.strides);
            work(row, TextRows(code, view_, data, view_.strides.back(), length_));
        };
        if (rows_ < 2 * num_threads() && length_ > 1024) {
            for (int64_t row = 0; row < rows_; ++row) one(row);
            return;
        }
        const int64_t tasks = std::min<int64_t>(rows_, rows_ * length_ < 4096 ? 1 : 8 * num_threads());
        parallel_for(tasks, [&](int64_t task) {
            for (int64_t row = rows_ * task / tasks; row < rows_ * (task + 1) / tasks; ++row) one(row);
        });
    }

private:
    static View moved(View view, size_t axis) {
        check(view);
        view.shape = with_last(view.shape, axis);
        view.strides = with_last(view.strides, axis);
        return view;
    }

    size_t axis_;
    View view_;
    int64_t length_, rows_;
};

// The texts of a view in C order, one stride apart: in memory of its own where they lie otherwise.
class FlatTexts {
public:
    explicit FlatTexts(const View& view) : view_(view) {
        check(view);
        const int64_t count = element_count(view.shape), size = view.width * bytes_of(view.character);
        if (view.shape.size() != 1) {
            view_.shape = {count};
            view_.strides = {size};
            if (view.strides != c_strides(view.shape, size)) copy_texts(view);
        }
    }

    const View& view() const { return view_; }

private:
    void copy_texts(const View& from) {
        memory_.emplace(element_count(from.shape) * view_.strides[0]);
        copy_texts_of(from, {memory_->data(), c_strides(from.shape, view_.strides[0]), from.width});
        view_.data = memory_->data();
    }

    View view_;
    std::optional<KeyMemory<char>> memory_;
};

}  // namespace

array argsort(const View& input, int64_t axis) {
    if (input.shape.empty()) {
        (void)normalize_axis(axis, 1);
        Results<int64_t> zero({});
        *zero.data() = 0;
        return zero.finish();
    }
    const RowsAlongAxis along(input, axis);
    Results<int64_t> order(along.shape());
    const KnownOrder known = known_order(along.view());
    if (known != KnownOrder::kNone) {
        const bool descending = known == KnownOrder::kDescending;
        const int64_t last = along.length() - 1;
        for_parts(element_count(along.shape()), 1, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin, at = begin % (last + 1); i < end; ++i) {
                order.data()[i] = descending ? last - at : at;
                at = at == last ? 0 : at + 1;
            }
        });
    } else {
        along.for_each([&](int64_t row, const TextRows& texts) {
            order_of_texts(texts, order.data() + row * along.length());
        });
    }
    array result = order.finish();
    const size_t last = input.shape.size() - 1;
    if (along.axis() == last) return result;
    Dims back;
    for (size_t d = 0; d <= last; ++d)
        back.push_back(static_cast<int64_t>(d < along.axis() ? d : d == along.axis() ? last : d - 1));
    return copy(transpose(result, back), 'C');
}

void sort(const View& input, int64_t axis, const Target& target) {
    if (input.shape.empty()) throw ValueError("a text without an axis has no order");
    const RowsAlongAxis along(input, axis);
    const Dims strides = with_last(target.strides, along.axis());
    if (const KnownOrder known = known_order(along.view()); known != KnownOrder::kNone) {
        View input_in_order = along.view();
        if (known == KnownOrder::kDescending) {
            const int64_t stride = input_in_order.strides.back();
            input_in_order.data =
                static_cast<const char*>(input_in_order.data) + (along.length() - 1) * stride;
            input_in_order.strides.back() = -stride;
        }
        copy_texts_of(input_in_order, {target.data, strides, target.width});
        return;
    }
    along.for_each([&](int64_t row, const TextRows& texts) {
        sort_texts(texts, static_cast<char*>(target.data) + along.offset_of(row, strides), strides.back());
    });
}

Unique unique(const View& input, const UniqueOptions& options) {
    const FlatTexts flat(input);
    const View& view = flat.view();
    const WordCode code{&view};
    std::optional<Results<int64_t>> inverse;
    if (options.inverse) inverse.emplace(input.shape);
    const DifferentTexts found = different_texts(
        TextRows(code, view, static_cast<const char*>(view.data), view.strides[0], view.shape[0]),
        known_order(view), inverse ? inverse->data() : nullptr);
    const auto as_array = [](const std::vector<int64_t>& values) {
        Results<int64_t> all({static_cast<int64_t>(values.size())});
        std::ranges::copy(values, all.data());
        return all.finish();
    };
    Unique result;
    result.first = as_array(found.first);
    if (options.counts) result.counts = as_array(found.counts);
    if (inverse) result.inverse = inverse->finish();
    return result;
}

array ranks(const View& input) { return unique(input, {.inverse = true}).inverse; }

void take(const View& input, const array& positions, const Target& target) {
    check(input);
    if (target.strides.size() != 1) throw ValueError("texts are taken into one axis");
    const HostRow row(move_to(positions, cpu_device()));
    take_texts(input, row.as<int64_t>(), row.count(), target);
}

array searchsorted(const View& sorted, const View& values, bool right) {
    check_pair(sorted, values);
    if (sorted.shape.size() != 1) throw ValueError("object of too small depth for desired array");
    Results<int64_t> places(values.shape);
    search_texts(sorted, values, right, places.data());
    return places.finish();
}

array isin(const View& element, const View& tests, bool invert) {
    check_pair(element, tests);
    const WordCode code{&element, &tests};
    const TextKeys elements(element, code, code.words()), wanted(tests, code, code.words());
    Results<bool> found(element.shape);
    find_rows(rows_of(elements), rows_of(wanted), invert, found.data());
    return found.finish();
}

}  // namespace weft::texts
