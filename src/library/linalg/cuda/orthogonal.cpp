// Cholesky and QR factorisations.
#include <algorithm>

#include "library/linalg/cuda/cusolver.h"
#include "library/linalg/cuda/factorizations.h"

namespace weft::cusolver {

void factor_cholesky(ScalarType type, DeviceBackend& device, const Matrices& a, uint64_t info) {
    Session session(device);
    const auto& f = session.functions();
    if (takes_together(a)) {
        const auto work = by_type(type, f.cusolverDnSpotrfBatched, f.cusolverDnDpotrfBatched,
                                  f.cusolverDnCpotrfBatched, f.cusolverDnZpotrfBatched);
        session.queue("factorise matrices", [&] {
            return work(session.handle(), kLower, static_cast<int>(a.rows), pointer(a.pointers),
                        static_cast<int>(a.rows), integers(info), static_cast<int>(a.count));
        });
        return;
    }
    const int of = data_type(type);
    Session::Room room = session.ask("factorise a matrix", [&](size_t* on_device, size_t* on_host) {
        return f.cusolverDnXpotrf_bufferSize(session.handle(), session.parameters(), kLower, a.rows, of,
                                             pointer(a.data), a.rows, of, on_device, on_host);
    });
    for (int64_t k = 0; k < a.count; ++k) {
        session.queue("factorise a matrix", [&] {
            return f.cusolverDnXpotrf(session.handle(), session.parameters(), kLower, a.rows, of,
                                      pointer(a.at(k, item_size(type))), a.rows, of, room.on_device,
                                      room.device_bytes, room.on_host.data(), room.on_host.size(),
                                      integers(info) + k);
        });
    }
}

void factor_qr(ScalarType type, DeviceBackend& device, const Matrices& a, uint64_t tau) {
    Session session(device);
    const auto& f = session.functions();
    const int of = data_type(type);
    const int64_t least = std::min(a.rows, a.columns);
    Session::Room room = session.ask("factorise a matrix", [&](size_t* on_device, size_t* on_host) {
        return f.cusolverDnXgeqrf_bufferSize(session.handle(), session.parameters(), a.rows, a.columns, of,
                                             pointer(a.data), a.rows, of, pointer(tau), of, on_device,
                                             on_host);
    });
    int* const unused = integers(session.room(sizeof(int)));
    for (int64_t k = 0; k < a.count; ++k) {
        session.queue("factorise a matrix", [&] {
            return f.cusolverDnXgeqrf(session.handle(), session.parameters(), a.rows, a.columns, of,
                                      pointer(a.at(k, item_size(type))), a.rows, of,
                                      pointer(tau + static_cast<uint64_t>(k * least * item_size(type))), of,
                                      room.on_device, room.device_bytes, room.on_host.data(),
                                      room.on_host.size(), unused);
        });
    }
}

void form_q(ScalarType type, DeviceBackend& device, const Matrices& q, int64_t reflectors, uint64_t tau) {
    Session session(device);
    const auto& f = session.functions();
    const auto size = by_type(type, f.cusolverDnSorgqr_bufferSize, f.cusolverDnDorgqr_bufferSize,
                              f.cusolverDnCungqr_bufferSize, f.cusolverDnZungqr_bufferSize);
    const auto work =
        by_type(type, f.cusolverDnSorgqr, f.cusolverDnDorgqr, f.cusolverDnCungqr, f.cusolverDnZungqr);
    const auto rows = static_cast<int>(q.rows), columns = static_cast<int>(q.columns),
               count = static_cast<int>(reflectors);
    int elements = 0;
    Session::Room room =
        session.ask_elements("form orthonormal columns", item_size(type), elements, [&](int* asked) {
            return size(session.handle(), rows, columns, count, pointer(q.data), rows, pointer(tau), asked);
        });
    int* const unused = integers(session.room(sizeof(int)));
    for (int64_t k = 0; k < q.count; ++k) {
        session.queue("form orthonormal columns", [&] {
            return work(session.handle(), rows, columns, count, pointer(q.at(k, item_size(type))), rows,
                        pointer(tau + static_cast<uint64_t>(k * reflectors * item_size(type))),
                        room.on_device, elements, unused);
        });
    }
}

}  // namespace weft::cusolver
