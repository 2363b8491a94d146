#include <algorithm>
#include <utility>

#include "library/linalg/cuda/cusolver.h"
#include "library/linalg/cuda/factorizations.h"
#include "library/products/cuda/cublas_lt.h"

namespace weft::cusolver {

namespace {

// Larger ones fill the device one by one.
constexpr int64_t kMostTogether = 512;

int narrow(int64_t value) { return static_cast<int>(value); }

// As cuSOLVER's getrs does it, but by cuBLAS's triangular solves, which are quicker for many right sides.
void solve_triangles(Session& session, ScalarType type, const Matrices& factors, const Matrices& b) {
    constexpr int kLeft = 0, kAsItIs = 0, kUnit = 1;
    const auto& g = session.blas();
    const auto solve = by_type(type, g.cublasStrsm_v2, g.cublasDtrsm_v2, g.cublasCtrsm_v2, g.cublasZtrsm_v2);
    const ProductScalar one(1);
    const bool wide = real_type(type) == ScalarType::kFloat64;
    const int n = narrow(b.rows), columns = narrow(b.columns);
    for (int64_t k = 0; k < b.count; ++k) {
        void *const a = pointer(factors.at(k, item_size(type))), *const x = pointer(b.at(k, item_size(type)));
        for (const auto& [triangle, unit] : {std::pair(kLower, kUnit), std::pair(kUpper, kAsItIs)}) {
            session.queue_blas("solve equations", [&] {
                return solve(session.blas_handle(), kLeft, triangle, kPlain, unit, n, columns, one.read(wide),
                             a, n, x, n);
            });
        }
    }
}

}  // namespace

bool is_triangular_solve(const Matrices& factors, bool transposed, const Matrices& b) {
    constexpr int64_t kManySides = 16;
    return !transposed && !takes_together(factors) && b.columns >= kManySides && b.columns <= INT32_MAX &&
           b.rows <= INT32_MAX;
}

bool takes_together(const Matrices& matrices) {
    return matrices.count > 1 && matrices.rows <= kMostTogether && matrices.columns <= kMostTogether &&
           matrices.count <= INT32_MAX;
}

void factor_lu(ScalarType type, DeviceBackend& device, const Matrices& a, uint64_t pivots, uint64_t info) {
    Session session(device);
    if (takes_together(a)) {
        const auto& f = session.blas();
        const auto work = by_type(type, f.cublasSgetrfBatched, f.cublasDgetrfBatched, f.cublasCgetrfBatched,
                                  f.cublasZgetrfBatched);
        session.queue_blas("factorise matrices", [&] {
            return work(session.blas_handle(), narrow(a.rows), pointer(a.pointers), narrow(a.rows),
                        integers(pivots), integers(info), narrow(a.count));
        });
        return;
    }
    const auto& f = session.functions();
    const int of = data_type(type);
    Session::Room room = session.ask("factorise a matrix", [&](size_t* on_device, size_t* on_host) {
        return f.cusolverDnXgetrf_bufferSize(session.handle(), session.parameters(), a.rows, a.columns, of,
                                             pointer(a.data), a.rows, of, on_device, on_host);
    });
    const int64_t least = std::min(a.rows, a.columns);
    for (int64_t k = 0; k < a.count; ++k) {
        session.queue("factorise a matrix", [&] {
            return f.cusolverDnXgetrf(session.handle(), session.parameters(), a.rows, a.columns, of,
                                      pointer(a.at(k, item_size(type))), a.rows,
                                      reinterpret_cast<int64_t*>(pivots) + k * least, of, room.on_device,
                                      room.device_bytes, room.on_host.data(), room.on_host.size(),
                                      integers(info) + k);
        });
    }
}

void solve_lu(ScalarType type, DeviceBackend& device, const Matrices& factors, uint64_t pivots,
              bool transposed, const Matrices& b) {
    Session session(device);
    const int operation = transposed ? kTransposed : kPlain;
    if (takes_together(factors)) {
        const auto& f = session.blas();
        const auto work = by_type(type, f.cublasSgetrsBatched, f.cublasDgetrsBatched, f.cublasCgetrsBatched,
                                  f.cublasZgetrsBatched);
        session.queue_blas("solve equations", [&] {
            int status = 0;
            return work(session.blas_handle(), operation, narrow(b.rows), narrow(b.columns),
                        pointer(factors.pointers), narrow(factors.rows), integers(pivots),
                        pointer(b.pointers), narrow(b.rows), &status, narrow(b.count));
        });
        return;
    }
    const auto& f = session.functions();
    if (is_triangular_solve(factors, transposed, b)) return solve_triangles(session, type, factors, b);
    const int of = data_type(type);
    int* const unused = integers(session.room(sizeof(int)));
    for (int64_t k = 0; k < b.count; ++k) {
        session.queue("solve equations", [&] {
            return f.cusolverDnXgetrs(session.handle(), session.parameters(), operation, b.rows, b.columns,
                                      of, pointer(factors.at(k, item_size(type))), factors.rows,
                                      reinterpret_cast<const int64_t*>(pivots) + k * b.rows, of,
                                      pointer(b.at(k, item_size(type))), b.rows, unused);
        });
    }
}

void invert_lu(ScalarType type, DeviceBackend& device, const Matrices& factors, uint64_t pivots,
               const Matrices& inverses, uint64_t info) {
    Session session(device);
    const auto& f = session.blas();
    const auto work = by_type(type, f.cublasSgetriBatched, f.cublasDgetriBatched, f.cublasCgetriBatched,
                              f.cublasZgetriBatched);
    session.queue_blas("invert matrices", [&] {
        return work(session.blas_handle(), narrow(factors.rows), pointer(factors.pointers),
                    narrow(factors.rows), integers(pivots), pointer(inverses.pointers), narrow(inverses.rows),
                    integers(info), narrow(factors.count));
    });
}

}  // namespace weft::cusolver
