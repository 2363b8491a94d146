// Some of the eigenvalues of symmetric or Hermitian matrices.
#include "api/linalg/inputs.h"
#include "library/linalg/spectral/eigen_range.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft::linalg {

namespace {

void check_subset(const array& a, const EighSubset& subset) {
    if (subset.positions && subset.interval)
        throw ValueError("Either index or value subset can be requested.");
    const int64_t n = a.shape().back();
    if (subset.positions) {
        const auto [first, last] = *subset.positions;
        if (first < 0 || first > last || last >= n)
            throw ValueError("Requested eigenvalue indices are not valid. Valid range is [0, " +
                             std::to_string(n - 1) + "] and start <= end, but start=" +
                             std::to_string(first) + ", end=" + std::to_string(last) + " is given");
    }
    if (subset.interval) {
        if (!(subset.interval->first < subset.interval->second))
            throw ValueError("Requested eigenvalue bounds are not valid: low < high is expected");
        if (a.ndim() != 2) throw ValueError("an interval of eigenvalues is for single matrices");
    }
}

// Which of all eigenvalues.
Slice chosen_of(const array& all_values, const EighSubset& subset) {
    if (subset.positions) return slice(subset.positions->first, subset.positions->second + 1);
    const auto count_up_to = [&](double bound) { return sum(less_equal(all_values, bound)).item<int64_t>(); };
    return slice(count_up_to(subset.interval->first), count_up_to(subset.interval->second));
}

EighResult solve(const array& a, bool upper, const EighSubset& subset, bool with_vectors) {
    const Types types = common_type(a);
    const int64_t n = a.shape().back();
    lapack::EigenRange range;
    if (subset.positions) {
        range.first = subset.positions->first;
        range.last = subset.positions->second;
    } else {
        range.by_value = true;
        range.low = subset.interval->first;
        range.high = subset.interval->second;
    }
    const int64_t room = range.by_value ? n : range.last - range.first + 1;
    const Input input(a, types);
    Output values(real_types(types), batch_of(a), {room});
    Output vectors(types, batch_of(a), {n, with_vectors ? room : 0});
    std::vector<int64_t> found(static_cast<size_t>(std::max<int64_t>(element_count(batch_of(a)), 1)), 0);
    const lapack::Matrices columns = vectors.matrices();
    if (a.size() != 0 &&
        !lapack::symmetric_eigen_range(types.scalar_type(), input.matrices(), upper, range, room,
                                       values.data(), with_vectors ? &columns : nullptr, found.data()))
        throw LinAlgError("Eigenvalues did not converge");
    EighResult result{values.finish(), vectors.finish()};
    if (!range.by_value) return result;
    result.eigenvalues = copy(result.eigenvalues(slice(found[0])), 'C');
    if (with_vectors) result.eigenvectors = copy(result.eigenvectors(all, slice(found[0])), 'C');
    return result;
}

}  // namespace

EighResult eigh(const array& a, bool upper, const EighSubset& subset) {
    const LibraryCall call("linalg.eigh", a);
    check_square(a);
    check_subset(a, subset);
    if (!subset.positions && !subset.interval) return eigh(a, upper);
    if (is_on_gpu(a)) {
        const EighResult whole = eigh(a, upper);
        const Slice chosen = chosen_of(whole.eigenvalues, subset);
        return {whole.eigenvalues(ellipsis, chosen), whole.eigenvectors(ellipsis, chosen)};
    }
    check_finite(a);
    return solve(a, upper, subset, true);
}

array eigvalsh(const array& a, bool upper, const EighSubset& subset) {
    const LibraryCall call("linalg.eigvalsh", a);
    check_square(a);
    check_subset(a, subset);
    if (!subset.positions && !subset.interval) return eigvalsh(a, upper);
    if (is_on_gpu(a)) {
        const array whole = eigvalsh(a, upper);
        return whole(ellipsis, chosen_of(whole, subset));
    }
    check_finite(a);
    return solve(a, upper, subset, false).eigenvalues;
}

}  // namespace weft::linalg
