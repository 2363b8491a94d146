// Eigenvalues and singular values.
#include <algorithm>

#include "library/linalg/cuda/cusolver.h"
#include "library/linalg/cuda/factorizations.h"

namespace weft::cusolver {

namespace {

constexpr int64_t kMostJacobi = 32;  // what the batched Jacobi methods take
constexpr size_t kMostRoom = size_t{1} << 30;

// Parameters of the Jacobi methods, as they are by default.
class JacobiParameters {
public:
    using Make = int (*)(void**);
    using Destroy = int (*)(void*);
    JacobiParameters(Session& session, Make make, Destroy destroy) : destroy_(destroy) {
        session.check(make(&made_), "describe a method");
    }
    JacobiParameters(const JacobiParameters&) = delete;
    JacobiParameters& operator=(const JacobiParameters&) = delete;
    ~JacobiParameters() { (void)destroy_(made_); }
    void* get() const { return made_; }

private:
    Destroy destroy_;
    void* made_ = nullptr;
};

void symmetric_by_jacobi(Session& session, ScalarType type, const Matrices& a, int triangle, int vectors,
                         uint64_t values, uint64_t info) {
    const auto& f = session.functions();
    const auto size =
        by_type(type, f.cusolverDnSsyevjBatched_bufferSize, f.cusolverDnDsyevjBatched_bufferSize,
                f.cusolverDnCheevjBatched_bufferSize, f.cusolverDnZheevjBatched_bufferSize);
    const auto work = by_type(type, f.cusolverDnSsyevjBatched, f.cusolverDnDsyevjBatched,
                              f.cusolverDnCheevjBatched, f.cusolverDnZheevjBatched);
    const JacobiParameters method(session, f.cusolverDnCreateSyevjInfo, f.cusolverDnDestroySyevjInfo);
    const auto n = static_cast<int>(a.rows), count = static_cast<int>(a.count);
    int elements = 0;
    Session::Room room = session.ask_elements("find eigenvalues", item_size(type), elements, [&](int* asked) {
        return size(session.handle(), vectors, triangle, n, pointer(a.data), n, pointer(values), asked,
                    method.get(), count);
    });
    session.queue("find eigenvalues", [&] {
        return work(session.handle(), vectors, triangle, n, pointer(a.data), n, pointer(values),
                    room.on_device, elements, integers(info), method.get(), count);
    });
}

// As many at once as there is room for.
void symmetric_together(Session& session, ScalarType type, const Matrices& a, int triangle, int vectors,
                        uint64_t values, uint64_t info) {
    const auto& f = session.functions();
    const int of = data_type(type), real = data_type(real_type(type));
    const int64_t value_bytes = a.rows * item_size(real_type(type));
    int64_t together = std::min<int64_t>(a.count, 1024);
    const auto size = [&](size_t* on_device, size_t* on_host) {
        return f.cusolverDnXsyevBatched_bufferSize(session.handle(), session.parameters(), vectors, triangle,
                                                   a.rows, of, pointer(a.data), a.rows, real, pointer(values),
                                                   of, on_device, on_host, together);
    };
    for (; together > 1; together /= 2) {
        size_t on_device = 0, on_host = 0;
        session.check(size(&on_device, &on_host), "find eigenvalues");
        if (on_device <= kMostRoom) break;
    }
    Session::Room room = session.ask("find eigenvalues", size);
    for (int64_t k = 0; k < a.count; k += together) {
        session.queue("find eigenvalues", [&] {
            return f.cusolverDnXsyevBatched(session.handle(), session.parameters(), vectors, triangle, a.rows,
                                            of, pointer(a.at(k, item_size(type))), a.rows, real,
                                            pointer(values + static_cast<uint64_t>(k * value_bytes)), of,
                                            room.on_device, room.device_bytes, room.on_host.data(),
                                            room.on_host.size(), integers(info) + k,
                                            std::min(together, a.count - k));
        });
    }
}

// Where the vectors go: some methods write there although they are not wanted.
struct VectorRooms {
    uint64_t u, v;
};
VectorRooms rooms_of(Session& session, ScalarType type, const Matrices& a, const SingularFactors& factors) {
    if (factors.u != 0) return {factors.u, factors.v};
    const int64_t item = item_size(type) * a.count;
    return {session.room(static_cast<size_t>(a.rows * a.rows * item)),
            session.room(static_cast<size_t>(a.columns * a.columns * item))};
}

void singular_by_jacobi(Session& session, ScalarType type, const Matrices& a, const SingularFactors& factors,
                        uint64_t info) {
    const auto& f = session.functions();
    const auto size =
        by_type(type, f.cusolverDnSgesvdjBatched_bufferSize, f.cusolverDnDgesvdjBatched_bufferSize,
                f.cusolverDnCgesvdjBatched_bufferSize, f.cusolverDnZgesvdjBatched_bufferSize);
    const auto work = by_type(type, f.cusolverDnSgesvdjBatched, f.cusolverDnDgesvdjBatched,
                              f.cusolverDnCgesvdjBatched, f.cusolverDnZgesvdjBatched);
    const JacobiParameters method(session, f.cusolverDnCreateGesvdjInfo, f.cusolverDnDestroyGesvdjInfo);
    const auto rows = static_cast<int>(a.rows), columns = static_cast<int>(a.columns),
               count = static_cast<int>(a.count);
    const int vectors = factors.u != 0 ? 1 : 0;
    const auto [u, v] = rooms_of(session, type, a, factors);
    int elements = 0;
    Session::Room room =
        session.ask_elements("find singular values", item_size(type), elements, [&](int* asked) {
            return size(session.handle(), vectors, rows, columns, pointer(a.data), rows, pointer(factors.s),
                        pointer(u), rows, pointer(v), columns, asked, method.get(), count);
        });
    session.queue("find singular values", [&] {
        return work(session.handle(), vectors, rows, columns, pointer(a.data), rows, pointer(factors.s),
                    pointer(u), rows, pointer(v), columns, room.on_device, elements, integers(info),
                    method.get(), count);
    });
}

struct Singular {
    Session& session;
    const ScalarType type;
    const Matrices& a;
    const SingularFactors& factors;
    const uint64_t info;

    uint64_t s_of(int64_t k) const {
        return factors.s + static_cast<uint64_t>(k * a.columns * item_size(real_type(type)));
    }
    uint64_t u_of(int64_t k) const {
        return factors.u == 0
                   ? 0
                   : factors.u + static_cast<uint64_t>(k * a.rows * factors.u_columns * item_size(type));
    }
    uint64_t v_of(int64_t k) const {
        return factors.v == 0
                   ? 0
                   : factors.v + static_cast<uint64_t>(k * a.columns * a.columns * item_size(type));
    }
    bool is_square() const { return factors.u_columns == a.rows; }

    // By QR iterations.
    void iterate() const {
        const auto& f = session.functions();
        const int of = data_type(type), real = data_type(real_type(type));
        const signed char left = factors.u == 0 ? 'N'
                                 : is_square()  ? 'A'
                                                : 'S',
                          right = factors.u == 0 ? 'N' : 'A';
        const auto arguments = [&](int64_t k, const auto& call) {
            return call(session.handle(), session.parameters(), left, right, a.rows, a.columns, of,
                        pointer(a.at(k, item_size(type))), a.rows, real, pointer(s_of(k)), of,
                        pointer(u_of(k)), a.rows, of, pointer(v_of(k)), a.columns, of);
        };
        Session::Room room = session.ask("find singular values", [&](size_t* on_device, size_t* on_host) {
            return arguments(0, [&](auto... given) {
                return f.cusolverDnXgesvd_bufferSize(given..., on_device, on_host);
            });
        });
        for (int64_t k = 0; k < a.count; ++k) {
            session.queue("find singular values", [&] {
                return arguments(k, [&](auto... given) {
                    return f.cusolverDnXgesvd(given..., room.on_device, room.device_bytes,
                                              room.on_host.data(), room.on_host.size(), integers(info) + k);
                });
            });
        }
    }

    // By polar decompositions. The library says how far it has moved a matrix that is close to a singular
    // one: false where that is more than nothing.
    bool polarise() const {
        const auto& f = session.functions();
        const int of = data_type(type), real = data_type(real_type(type));
        const VectorRooms one = rooms_of(session, type, Matrices{0, a.rows, a.columns, 1}, factors);
        const int vectors = factors.u != 0 ? 1 : 0, economy = is_square() && a.rows != a.columns ? 0 : 1;
        const auto arguments = [&](int64_t k, const auto& call) {
            return call(session.handle(), session.parameters(), vectors, economy, a.rows, a.columns, of,
                        pointer(a.at(k, item_size(type))), a.rows, real, pointer(s_of(k)), of,
                        pointer(factors.u != 0 ? u_of(k) : one.u), a.rows, of,
                        pointer(factors.v != 0 ? v_of(k) : one.v), a.columns, of);
        };
        Session::Room room = session.ask("find singular values", [&](size_t* on_device, size_t* on_host) {
            return arguments(0, [&](auto... given) {
                return f.cusolverDnXgesvdp_bufferSize(given..., on_device, on_host);
            });
        });
        double most = 0;
        for (int64_t k = 0; k < a.count; ++k) {
            double moved = 0;
            session.queue("find singular values", [&] {
                return arguments(k, [&](auto... given) {
                    return f.cusolverDnXgesvdp(given..., room.on_device, room.device_bytes,
                                               room.on_host.data(), room.on_host.size(), integers(info) + k,
                                               &moved);
                });
            });
            most = std::max(most, moved);
        }
        return most == 0;
    }
};

}  // namespace

void factor_symmetric(ScalarType type, DeviceBackend& device, const Matrices& a, bool upper, bool vectors,
                      uint64_t values, uint64_t info) {
    Session session(device);
    const auto& f = session.functions();
    const int triangle = upper ? kUpper : kLower, with = vectors ? 1 : 0;
    if (a.count > 1 && a.rows <= kMostJacobi)
        return symmetric_by_jacobi(session, type, a, triangle, with, values, info);
    if (a.count > 1 && f.cusolverDnXsyevBatched != nullptr && f.cusolverDnXsyevBatched_bufferSize != nullptr)
        return symmetric_together(session, type, a, triangle, with, values, info);
    const int of = data_type(type), real = data_type(real_type(type));
    Session::Room room = session.ask("find eigenvalues", [&](size_t* on_device, size_t* on_host) {
        return f.cusolverDnXsyevd_bufferSize(session.handle(), session.parameters(), with, triangle, a.rows,
                                             of, pointer(a.data), a.rows, real, pointer(values), of,
                                             on_device, on_host);
    });
    for (int64_t k = 0; k < a.count; ++k) {
        session.queue("find eigenvalues", [&] {
            return f.cusolverDnXsyevd(
                session.handle(), session.parameters(), with, triangle, a.rows, of,
                pointer(a.at(k, item_size(type))), a.rows, real,
                pointer(values + static_cast<uint64_t>(k * a.rows * item_size(real_type(type)))), of,
                room.on_device, room.device_bytes, room.on_host.data(), room.on_host.size(),
                integers(info) + k);
        });
    }
}

bool has_general(std::string& why) {
    const auto& f = cuda::library(cuda::LibraryId::kCusolver);
    if (f.cusolverDnXgeev != nullptr && f.cusolverDnXgeev_bufferSize != nullptr) return true;
    why = "this cuSOLVER has no eigenvalues of general matrices; that of CUDA 12.8 or later has";
    return false;
}

void factor_general(ScalarType type, DeviceBackend& device, const Matrices& a, uint64_t values,
                    uint64_t vectors, uint64_t info) {
    Session session(device);
    const auto& f = session.functions();
    const int of = data_type(type);
    const ScalarType value_type =
        real_type(type) == ScalarType::kFloat32 ? ScalarType::kComplex64 : ScalarType::kComplex128;
    const int64_t n = a.rows;
    const auto arguments = [&](int64_t k, const auto& call) {
        const uint64_t places = static_cast<uint64_t>(k * n);
        const uint64_t right =
            vectors == 0 ? 0 : vectors + places * static_cast<uint64_t>(n * item_size(type));
        return call(session.handle(), session.parameters(), 0, vectors != 0 ? 1 : 0, n, of,
                    pointer(a.at(k, item_size(type))), n, data_type(value_type),
                    pointer(values + places * static_cast<uint64_t>(item_size(value_type))), of,
                    static_cast<void*>(nullptr), n, of, pointer(right), n, of);
    };
    Session::Room room = session.ask("find eigenvalues", [&](size_t* on_device, size_t* on_host) {
        return arguments(
            0, [&](auto... given) { return f.cusolverDnXgeev_bufferSize(given..., on_device, on_host); });
    });
    for (int64_t k = 0; k < a.count; ++k) {
        session.queue("find eigenvalues", [&] {
            return arguments(k, [&](auto... given) {
                return f.cusolverDnXgeev(given..., room.on_device, room.device_bytes, room.on_host.data(),
                                         room.on_host.size(), integers(info) + k);
            });
        });
    }
}

bool takes_singular_together(const Matrices& a) { return a.count > 1 && a.rows <= kMostJacobi; }

void factor_singular_together(ScalarType type, DeviceBackend& device, const Matrices& a,
                              const SingularFactors& factors, uint64_t info) {
    Session session(device);
    singular_by_jacobi(session, type, a, factors, info);
}

bool factor_singular_quickly(ScalarType type, DeviceBackend& device, const Matrices& a,
                             const SingularFactors& factors, uint64_t info) {
    Session session(device);
    return Singular{session, type, a, factors, info}.polarise();
}

void factor_singular(ScalarType type, DeviceBackend& device, const Matrices& a,
                     const SingularFactors& factors, uint64_t info) {
    Session session(device);
    Singular{session, type, a, factors, info}.iterate();
}

}  // namespace weft::cusolver
