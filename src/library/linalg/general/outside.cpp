#include "library/linalg/general/outside.h"

#include <algorithm>

#include "library/linalg/dense/packed.h"

namespace weft::lapack {

template <class T>
void Outside<T>::multiply(int64_t first, int64_t size, const T* u, int64_t ldu, int64_t above, int64_t behind,
                          int64_t top, int64_t end) const {
    constexpr int64_t kStrip = 64, kRows = 112;
    if (z != nullptr) top = 0, end = n;
    Packed<T> left(Form::kTransposed, size, size, u, ldu);
    const int64_t columns = std::max<int64_t>(end - behind, 0);
    const int64_t strips = (columns + kStrip - 1) / kStrip;
    if (strips > 0) pack_together({&left});
    const int64_t high_rows = std::max<int64_t>(above - top, 0),
                  pieces_above = (high_rows + kRows - 1) / kRows;
    const int64_t pieces_of_z = z != nullptr ? (n + kRows - 1) / kRows : 0;
    const Room<T> copies(size * columns);
    // Rows that are packed may be written to.
    const auto rows = [&](T* to, int64_t lead, int64_t from, int64_t until) {
        T* const own = to + from + first * lead;
        Packed<T> packed(Form::kPlain, until - from, size, own, lead);
        packed.pack_all().multiply(Update::kSet, size, u, ldu, own, lead);
    };
    parallel_for(strips + pieces_above + pieces_of_z, [&](int64_t piece) {
        if (piece < strips) {
            const int64_t from = piece * kStrip, count = std::min(columns - from, kStrip);
            T* const own = h + first + (behind + from) * ldh;
            T* const copy = copies + from * size;
            for (int64_t j = 0; j < count; ++j)
                std::copy(own + j * ldh, own + j * ldh + size, copy + j * size);
            left.multiply(Update::kSet, count, copy, size, own, ldh);
        } else if (piece < strips + pieces_above) {
            const int64_t from = top + (piece - strips) * kRows;
            rows(h, ldh, from, std::min(above, from + kRows));
        } else {
            const int64_t from = (piece - strips - pieces_above) * kRows;
            rows(z, ldz, from, std::min(n, from + kRows));
        }
    });
}

template struct Outside<float>;
template struct Outside<double>;

}  // namespace weft::lapack
