// Histograms (weft/histograms.h), with Python's warnings.
#include "weft/histograms.h"

#include "api/ordering/bin_edges.h"
#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

Bins to_bins(nb::handle object) {
    if (PyUnicode_Check(object.ptr())) return text_of(object);
    if (PyLong_Check(object.ptr())) return to_index(object);
    return to_array(object);
}

// None, or a tuple of two floats.
BinRange to_range(nb::handle object) {
    if (object.is_none()) return std::nullopt;
    const auto end = [&](Py_ssize_t k) {
        return FromPython<double>::convert(PyTuple_GetItem(object.ptr(), k));
    };
    return std::pair(end(0), end(1));
}

void warn_if(bool doubtful) {
    const char* const text = "The number of bins estimated may be suboptimal.";
    if (doubtful && PyErr_WarnEx(PyExc_RuntimeWarning, text, 2) < 0) throw_python_error();
}

}  // namespace

void bind_histograms(nb::module_& m) {
    m.def(
        "_bin_edges",
        [](nb::handle a, nb::handle bins, nb::handle range) {
            const array value = to_array(a);
            const Bins chosen = to_bins(bins);
            const BinRange ends = to_range(range);
            ChosenEdges found;
            {
                const ReleaseGil release(is_large(value));
                found = choose_edges(binned_elements(value), chosen, ends);
            }
            warn_if(found.doubtful);
            return wrap(std::move(found.edges));
        },
        arg("a"), arg("bins"), arg("range").none());
    m.def(
        "_histogram",
        [](nb::handle a, nb::handle bins, nb::handle range, nb::handle weights, bool density) {
            const array value = to_array(a);
            const Bins chosen = to_bins(bins);
            const HistogramOptions options{to_range(range),
                                           FromPython<std::optional<array>>::convert(weights), density};
            DoubtfulHistogram result;
            {
                const ReleaseGil release(is_large(value));
                result = find_histogram(value, chosen, options);
            }
            warn_if(result.doubtful);
            return nb::make_tuple(wrap(std::move(result.found.counts)), wrap(std::move(result.found.edges)));
        },
        arg("a"), arg("bins"), arg("range").none(), arg("weights").none(), arg("density"));
    m.def(
        "_histogramdd",
        [](nb::handle sample, nb::handle bins, nb::handle ranges, nb::handle weights, bool density) {
            const array value = to_array(sample);
            std::vector<Bins> chosen;
            std::vector<BinRange> ends;
            for (const nb::handle each : bins) chosen.push_back(to_bins(each));
            for (const nb::handle each : ranges) ends.push_back(to_range(each));
            const auto given = FromPython<std::optional<array>>::convert(weights);
            HistogramOfSeveral found;
            {
                const ReleaseGil release(is_large(value));
                found = histogramdd(value, chosen, ends, given, density);
            }
            nb::list edges;
            for (array& each : found.edges) edges.append(wrap(std::move(each)));
            return nb::make_tuple(wrap(std::move(found.counts)), edges);
        },
        arg("sample"), arg("bins"), arg("ranges"), arg("weights").none(), arg("density"));
}

}  // namespace weft::python
