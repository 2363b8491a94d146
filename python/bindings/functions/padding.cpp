// np.pad (weft/assembly.h).
#include "weft/assembly.h"

#include <array>

#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

constexpr std::pair<std::string_view, PadMode> kModes[] = {
    {"constant", PadMode::kConstant}, {"edge", PadMode::kEdge},       {"linear_ramp", PadMode::kLinearRamp},
    {"maximum", PadMode::kMaximum},   {"mean", PadMode::kMean},       {"median", PadMode::kMedian},
    {"minimum", PadMode::kMinimum},   {"reflect", PadMode::kReflect}, {"symmetric", PadMode::kSymmetric},
    {"wrap", PadMode::kWrap},         {"empty", PadMode::kEmpty},
};

PadMode mode_named(std::string_view name) {
    for (const auto& [each, mode] : kModes) {
        if (each == name) return mode;
    }
    throw ValueError("mode '" + std::string(name) + "' is not supported");
}

template <class T, class Convert>
std::vector<std::array<T, 2>> pairs(nb::handle list, const Convert& convert) {
    std::vector<std::array<T, 2>> result;
    for (const nb::handle pair : nb::borrow<nb::sequence>(list))
        result.push_back({convert(nb::object(pair[0])), convert(nb::object(pair[1]))});
    return result;
}

}  // namespace

void bind_padding(nb::module_& m) {
    m.def(
        "_pad",
        [](nb::handle a, nb::handle widths, std::string_view mode, nb::handle values, nb::handle lengths,
           bool odd) {
            const array value = to_array(a);
            std::vector<PadWidth> around;
            for (const auto& [before, after] :
                 pairs<int64_t>(widths, [](const nb::object& width) { return nb::cast<int64_t>(width); }))
                around.push_back({before, after});
            PadOptions options{.mode = mode_named(mode), .odd = odd};
            options.values =
                pairs<Argument>(values, [](const nb::object& each) { return to_argument(each); });
            options.lengths = pairs<std::optional<int64_t>>(lengths, [](const nb::object& each) {
                return each.is_none() ? std::nullopt : std::optional(nb::cast<int64_t>(each));
            });
            array found;
            {
                const ReleaseGil release(is_large(value));
                found = pad(value, around, options);
            }
            return wrap(std::move(found));
        },
        arg("array"), arg("widths"), arg("mode"), arg("values"), arg("lengths"), arg("odd"));
}

}  // namespace weft::python
