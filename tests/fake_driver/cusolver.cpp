// The fake driver's cuSOLVER: what library/linalg/cuda calls of it, by plain methods, on the memory and the
// streams of the fake driver. It is one without the eigenvalues of general matrices, as older ones are.
#include <complex>
#include <cstring>

#include "dense.h"
#include "fake_driver.h"

namespace weft::fake_driver {

namespace {

constexpr int kInvalidValue = 3;
constexpr size_t kRoom = 256;

struct Handle {
    cuda::StreamHandle stream = nullptr;
};

template <class T>
struct Type {
    using Element = T;
};

// By cudaDataType.
template <class Work>
void by_type(int type, const Work& work) {
    switch (type) {
        case 0: return work(Type<float>());
        case 4: return work(Type<std::complex<float>>());
        case 5: return work(Type<std::complex<double>>());
        default: return work(Type<double>());
    }
}

int say_room(const char* name, size_t* on_device, size_t* on_host) {
    if (const int status = enter_library(name)) return status;
    *on_device = kRoom;
    *on_host = 0;
    return 0;
}
int say_elements(const char* name, int* elements) {
    if (const int status = enter_library(name)) return status;
    *elements = static_cast<int>(kRoom);
    return 0;
}

template <class Work>
int queue(const char* name, void* handle, bool fits, void* room, size_t bytes, const Work& work) {
    if (const int status = enter_library(name)) return status;
    if (!fits || (room == nullptr && bytes != 0)) return kInvalidValue;
    run_later(static_cast<Handle*>(handle)->stream, [=] {
        if (bytes != 0) std::memset(room, 0x55, bytes);
        work();
    });
    return 0;
}

template <class T>
Matrix<T> matrix_of(void* data, int64_t rows, int64_t columns, int64_t leading) {
    return {static_cast<T*>(data), rows, columns, leading};
}
template <class T>
bool is_finite(const Matrix<T>& a) {
    for (int64_t j = 0; j < a.columns; ++j) {
        for (int64_t i = 0; i < a.rows; ++i) {
            if (!std::isfinite(std::abs(a(i, j)))) return false;
        }
    }
    return true;
}

template <class T>
int form(const char* name, void* handle, int rows, int columns, int reflectors, void* a, int leading,
         const void* tau, void* room, int elements, int* info) {
    return queue(name, handle, rows >= columns && columns >= reflectors, room,
                 static_cast<size_t>(elements) * sizeof(T), [=] {
                     form_q(matrix_of<T>(a, rows, columns, leading), reflectors, static_cast<const T*>(tau));
                     *info = 0;
                 });
}

template <class T>
int cholesky_batch(const char* name, void* handle, int triangle, int n, void* matrices, int leading,
                   int* info, int batch) {
    return queue(name, handle, triangle == 0 && leading >= n, nullptr, 0, [=] {
        for (int64_t k = 0; k < batch; ++k)
            info[k] = factor_cholesky(matrix_of<T>(static_cast<void**>(matrices)[k], n, n, leading));
    });
}

template <class T>
int symmetric_batch(const char* name, void* handle, int vectors, int triangle, int n, void* a, int leading,
                    void* values, void* room, int elements, int* info, int batch) {
    return queue(name, handle, n <= 32 && leading == n, room, static_cast<size_t>(elements) * sizeof(T), [=] {
        for (int64_t k = 0; k < batch; ++k) {
            factor_symmetric(matrix_of<T>(static_cast<T*>(a) + k * n * n, n, n, n), triangle == 1,
                             vectors != 0, static_cast<Real<T>*>(values) + k * n);
            info[k] = 0;
        }
    });
}

template <class T>
int singular_batch(const char* name, void* handle, int vectors, int rows, int columns, void* a, int leading,
                   void* s, void* u, int left_leading, void* v, int right_leading, void* room, int elements,
                   int* info, int batch) {
    const bool fits = rows <= 32 && columns <= rows && leading == rows && left_leading == rows &&
                      right_leading == columns && u != nullptr && v != nullptr;
    return queue(name, handle, fits, room, static_cast<size_t>(elements) * sizeof(T), [=] {
        for (int64_t k = 0; k < batch; ++k) {
            factor_singular(matrix_of<T>(static_cast<T*>(a) + k * rows * columns, rows, columns, rows),
                            static_cast<Real<T>*>(s) + k * columns,
                            vectors != 0 ? static_cast<T*>(u) + k * rows * rows : nullptr, rows,
                            static_cast<T*>(v) + k * columns * columns);
            info[k] = 0;
        }
    });
}

}  // namespace

}  // namespace weft::fake_driver

using namespace weft::fake_driver;

extern "C" {

int cusolverGetVersion(int* version) {
    if (const int status = enter_library("cusolverGetVersion")) return status;
    *version = 12000;
    return 0;
}
int cusolverDnCreate(void** handle) {
    if (const int status = enter_library("cusolverDnCreate")) return status;
    *handle = new Handle;
    count_objects(1);
    return 0;
}
int cusolverDnDestroy(void* handle) {
    delete static_cast<Handle*>(handle);
    count_objects(-1);
    return enter_library("cusolverDnDestroy");
}
int cusolverDnSetStream(void* handle, weft::cuda::StreamHandle stream) {
    if (const int status = enter_library("cusolverDnSetStream")) return status;
    static_cast<Handle*>(handle)->stream = stream;
    return 0;
}
int cusolverDnCreateParams(void** made) {
    if (const int status = enter_library("cusolverDnCreateParams")) return status;
    *made = new int;
    count_objects(1);
    return 0;
}
int cusolverDnDestroyParams(void* made) {
    delete static_cast<int*>(made);
    count_objects(-1);
    return enter_library("cusolverDnDestroyParams");
}
int cusolverDnCreateSyevjInfo(void** made) {
    if (const int status = enter_library("cusolverDnCreateSyevjInfo")) return status;
    *made = new int;
    count_objects(1);
    return 0;
}
int cusolverDnDestroySyevjInfo(void* made) {
    delete static_cast<int*>(made);
    count_objects(-1);
    return enter_library("cusolverDnDestroySyevjInfo");
}
int cusolverDnCreateGesvdjInfo(void** made) {
    if (const int status = enter_library("cusolverDnCreateGesvdjInfo")) return status;
    *made = new int;
    count_objects(1);
    return 0;
}
int cusolverDnDestroyGesvdjInfo(void* made) {
    delete static_cast<int*>(made);
    count_objects(-1);
    return enter_library("cusolverDnDestroyGesvdjInfo");
}

int cusolverDnXgetrf_bufferSize(void*, void*, int64_t, int64_t, int, const void*, int64_t, int,
                                size_t* on_device, size_t* on_host) {
    return say_room("cusolverDnXgetrf_bufferSize", on_device, on_host);
}
int cusolverDnXgetrf(void* handle, void*, int64_t rows, int64_t columns, int type, void* a, int64_t leading,
                     int64_t* pivots, int, void* room, size_t bytes, void*, size_t, int* info) {
    return queue("cusolverDnXgetrf", handle, leading >= rows, room, bytes, [=] {
        by_type(type, [&]<class T>(Type<T>) {
            *info = factor_lu(matrix_of<T>(a, rows, columns, leading), pivots);
        });
    });
}
int cusolverDnXgetrs(void* handle, void*, int operation, int64_t n, int64_t columns, int type, const void* a,
                     int64_t leading, const int64_t* pivots, int, void* b, int64_t side_leading, int* info) {
    return queue("cusolverDnXgetrs", handle, leading >= n && side_leading >= n && operation < 2, nullptr, 0,
                 [=] {
                     by_type(type, [&]<class T>(Type<T>) {
                         solve_lu(matrix_of<T>(const_cast<void*>(a), n, n, leading), pivots, operation == 1,
                                  matrix_of<T>(b, n, columns, side_leading));
                     });
                     *info = 0;
                 });
}
int cusolverDnXpotrf_bufferSize(void*, void*, int, int64_t, int, const void*, int64_t, int, size_t* on_device,
                                size_t* on_host) {
    return say_room("cusolverDnXpotrf_bufferSize", on_device, on_host);
}
int cusolverDnXpotrf(void* handle, void*, int triangle, int64_t n, int type, void* a, int64_t leading, int,
                     void* room, size_t bytes, void*, size_t, int* info) {
    return queue("cusolverDnXpotrf", handle, triangle == 0 && leading >= n, room, bytes, [=] {
        by_type(type, [&]<class T>(Type<T>) { *info = factor_cholesky(matrix_of<T>(a, n, n, leading)); });
    });
}
int cusolverDnXgeqrf_bufferSize(void*, void*, int64_t, int64_t, int, const void*, int64_t, int, const void*,
                                int, size_t* on_device, size_t* on_host) {
    return say_room("cusolverDnXgeqrf_bufferSize", on_device, on_host);
}
int cusolverDnXgeqrf(void* handle, void*, int64_t rows, int64_t columns, int type, void* a, int64_t leading,
                     int, void* tau, int, void* room, size_t bytes, void*, size_t, int* info) {
    return queue("cusolverDnXgeqrf", handle, leading >= rows, room, bytes, [=] {
        by_type(type, [&]<class T>(Type<T>) {
            factor_qr(matrix_of<T>(a, rows, columns, leading), static_cast<T*>(tau));
        });
        *info = 0;
    });
}
int cusolverDnXsyevd_bufferSize(void*, void*, int, int, int64_t, int, const void*, int64_t, int, const void*,
                                int, size_t* on_device, size_t* on_host) {
    return say_room("cusolverDnXsyevd_bufferSize", on_device, on_host);
}
int cusolverDnXsyevd(void* handle, void*, int vectors, int triangle, int64_t n, int type, void* a,
                     int64_t leading, int, void* values, int, void* room, size_t bytes, void*, size_t,
                     int* info) {
    return queue("cusolverDnXsyevd", handle, leading >= n, room, bytes, [=] {
        by_type(type, [&]<class T>(Type<T>) {
            factor_symmetric(matrix_of<T>(a, n, n, leading), triangle == 1, vectors != 0,
                             static_cast<Real<T>*>(values));
        });
        *info = 0;
    });
}
int cusolverDnXsyevBatched_bufferSize(void*, void*, int, int, int64_t, int, const void*, int64_t, int,
                                      const void*, int, size_t* on_device, size_t* on_host, int64_t) {
    return say_room("cusolverDnXsyevBatched_bufferSize", on_device, on_host);
}
int cusolverDnXsyevBatched(void* handle, void*, int vectors, int triangle, int64_t n, int type, void* a,
                           int64_t leading, int, void* values, int, void* room, size_t bytes, void*, size_t,
                           int* info, int64_t batch) {
    return queue("cusolverDnXsyevBatched", handle, leading == n, room, bytes, [=] {
        by_type(type, [&]<class T>(Type<T>) {
            for (int64_t k = 0; k < batch; ++k) {
                factor_symmetric(matrix_of<T>(static_cast<T*>(a) + k * n * n, n, n, n), triangle == 1,
                                 vectors != 0, static_cast<Real<T>*>(values) + k * n);
                info[k] = 0;
            }
        });
    });
}
int cusolverDnXgesvd_bufferSize(void*, void*, signed char, signed char, int64_t, int64_t, int, const void*,
                                int64_t, int, const void*, int, const void*, int64_t, int, const void*,
                                int64_t, int, size_t* on_device, size_t* on_host) {
    return say_room("cusolverDnXgesvd_bufferSize", on_device, on_host);
}
int cusolverDnXgesvd(void* handle, void*, signed char left, signed char, int64_t rows, int64_t columns,
                     int type, void* a, int64_t leading, int, void* s, int, void* u, int64_t left_leading,
                     int, void* v, int64_t right_leading, int, void* room, size_t bytes, void*, size_t,
                     int* info) {
    const bool fits = rows >= columns && leading >= rows &&
                      (left == 'N' || (left_leading == rows && right_leading == columns));
    return queue("cusolverDnXgesvd", handle, fits, room, bytes, [=] {
        by_type(type, [&]<class T>(Type<T>) {
            factor_singular(matrix_of<T>(a, rows, columns, leading), static_cast<Real<T>*>(s),
                            left == 'N' ? nullptr : static_cast<T*>(u), left == 'A' ? rows : columns,
                            static_cast<T*>(v));
            if (left == 'N') return;
            // It is the adjoint that this one gives.
            const Matrix<T> right = matrix_of<T>(v, columns, columns, columns);
            for (int64_t j = 0; j < columns; ++j) {
                right(j, j) = conjugate(right(j, j));
                for (int64_t i = 0; i < j; ++i) {
                    const T above = right(i, j);
                    right(i, j) = conjugate(right(j, i));
                    right(j, i) = conjugate(above);
                }
            }
        });
        *info = 0;
    });
}
int cusolverDnXgesvdp_bufferSize(void*, void*, int, int, int64_t, int64_t, int, const void*, int64_t, int,
                                 const void*, int, const void*, int64_t, int, const void*, int64_t, int,
                                 size_t* on_device, size_t* on_host) {
    return say_room("cusolverDnXgesvdp_bufferSize", on_device, on_host);
}
int cusolverDnXgesvdp(void* handle, void*, int, int economy, int64_t rows, int64_t columns, int type, void* a,
                      int64_t leading, int, void* s, int, void* u, int64_t left_leading, int, void* v,
                      int64_t right_leading, int, void* room, size_t bytes, void*, size_t, int* info,
                      double* moved) {
    // It writes vectors also where they are not wanted.
    const bool fits = rows >= columns && leading >= rows && left_leading == rows &&
                      right_leading == columns && u != nullptr && v != nullptr;
    if (const int status = queue("cusolverDnXgesvdp", handle, fits, room, bytes, [=] {
            by_type(type, [&]<class T>(Type<T>) {
                factor_singular(matrix_of<T>(a, rows, columns, leading), static_cast<Real<T>*>(s),
                                static_cast<T*>(u), economy != 0 ? columns : rows, static_cast<T*>(v));
                std::memset(a, 0x55, static_cast<size_t>(rows * columns) * sizeof(T));
            });
            *info = 0;
        }))
        return status;
    wait_for(static_cast<Handle*>(handle)->stream);
    // Close to a singular matrix, or not.
    by_type(type, [&]<class T>(Type<T>) {
        const auto* values = static_cast<const Real<T>*>(s);
        const Real<T> least = values[columns - 1], largest = values[0];
        *moved = least > 100 * std::numeric_limits<Real<T>>::epsilon() * largest
                     ? 0
                     : static_cast<double>(largest);
    });
    return 0;
}

int cusolverDnSorgqr_bufferSize(void*, int, int, int, const void*, int, const void*, int* elements) {
    return say_elements("cusolverDnSorgqr_bufferSize", elements);
}
int cusolverDnSorgqr(void* handle, int rows, int columns, int reflectors, void* a, int leading,
                     const void* tau, void* room, int elements, int* info) {
    return form<float>("cusolverDnSorgqr", handle, rows, columns, reflectors, a, leading, tau, room, elements,
                       info);
}
int cusolverDnDorgqr_bufferSize(void*, int, int, int, const void*, int, const void*, int* elements) {
    return say_elements("cusolverDnDorgqr_bufferSize", elements);
}
int cusolverDnDorgqr(void* handle, int rows, int columns, int reflectors, void* a, int leading,
                     const void* tau, void* room, int elements, int* info) {
    return form<double>("cusolverDnDorgqr", handle, rows, columns, reflectors, a, leading, tau, room,
                        elements, info);
}
int cusolverDnCungqr_bufferSize(void*, int, int, int, const void*, int, const void*, int* elements) {
    return say_elements("cusolverDnCungqr_bufferSize", elements);
}
int cusolverDnCungqr(void* handle, int rows, int columns, int reflectors, void* a, int leading,
                     const void* tau, void* room, int elements, int* info) {
    return form<std::complex<float>>("cusolverDnCungqr", handle, rows, columns, reflectors, a, leading, tau,
                                     room, elements, info);
}
int cusolverDnZungqr_bufferSize(void*, int, int, int, const void*, int, const void*, int* elements) {
    return say_elements("cusolverDnZungqr_bufferSize", elements);
}
int cusolverDnZungqr(void* handle, int rows, int columns, int reflectors, void* a, int leading,
                     const void* tau, void* room, int elements, int* info) {
    return form<std::complex<double>>("cusolverDnZungqr", handle, rows, columns, reflectors, a, leading, tau,
                                      room, elements, info);
}
int cusolverDnSpotrfBatched(void* handle, int triangle, int n, void* matrices, int leading, int* info,
                            int batch) {
    return cholesky_batch<float>("cusolverDnSpotrfBatched", handle, triangle, n, matrices, leading, info,
                                 batch);
}
int cusolverDnDpotrfBatched(void* handle, int triangle, int n, void* matrices, int leading, int* info,
                            int batch) {
    return cholesky_batch<double>("cusolverDnDpotrfBatched", handle, triangle, n, matrices, leading, info,
                                  batch);
}
int cusolverDnCpotrfBatched(void* handle, int triangle, int n, void* matrices, int leading, int* info,
                            int batch) {
    return cholesky_batch<std::complex<float>>("cusolverDnCpotrfBatched", handle, triangle, n, matrices,
                                               leading, info, batch);
}
int cusolverDnZpotrfBatched(void* handle, int triangle, int n, void* matrices, int leading, int* info,
                            int batch) {
    return cholesky_batch<std::complex<double>>("cusolverDnZpotrfBatched", handle, triangle, n, matrices,
                                                leading, info, batch);
}
int cusolverDnSsyevjBatched_bufferSize(void*, int, int, int, const void*, int, const void*, int* elements,
                                       void*, int) {
    return say_elements("cusolverDnSsyevjBatched_bufferSize", elements);
}
int cusolverDnSsyevjBatched(void* handle, int vectors, int triangle, int n, void* a, int leading,
                            void* values, void* room, int elements, int* info, void*, int batch) {
    return symmetric_batch<float>("cusolverDnSsyevjBatched", handle, vectors, triangle, n, a, leading, values,
                                  room, elements, info, batch);
}
int cusolverDnDsyevjBatched_bufferSize(void*, int, int, int, const void*, int, const void*, int* elements,
                                       void*, int) {
    return say_elements("cusolverDnDsyevjBatched_bufferSize", elements);
}
int cusolverDnDsyevjBatched(void* handle, int vectors, int triangle, int n, void* a, int leading,
                            void* values, void* room, int elements, int* info, void*, int batch) {
    return symmetric_batch<double>("cusolverDnDsyevjBatched", handle, vectors, triangle, n, a, leading,
                                   values, room, elements, info, batch);
}
int cusolverDnCheevjBatched_bufferSize(void*, int, int, int, const void*, int, const void*, int* elements,
                                       void*, int) {
    return say_elements("cusolverDnCheevjBatched_bufferSize", elements);
}
int cusolverDnCheevjBatched(void* handle, int vectors, int triangle, int n, void* a, int leading,
                            void* values, void* room, int elements, int* info, void*, int batch) {
    return symmetric_batch<std::complex<float>>("cusolverDnCheevjBatched", handle, vectors, triangle, n, a,
                                                leading, values, room, elements, info, batch);
}
int cusolverDnZheevjBatched_bufferSize(void*, int, int, int, const void*, int, const void*, int* elements,
                                       void*, int) {
    return say_elements("cusolverDnZheevjBatched_bufferSize", elements);
}
int cusolverDnZheevjBatched(void* handle, int vectors, int triangle, int n, void* a, int leading,
                            void* values, void* room, int elements, int* info, void*, int batch) {
    return symmetric_batch<std::complex<double>>("cusolverDnZheevjBatched", handle, vectors, triangle, n, a,
                                                 leading, values, room, elements, info, batch);
}
int cusolverDnSgesvdjBatched_bufferSize(void*, int, int, int, const void*, int, const void*, const void*, int,
                                        const void*, int, int* elements, void*, int) {
    return say_elements("cusolverDnSgesvdjBatched_bufferSize", elements);
}
int cusolverDnSgesvdjBatched(void* handle, int vectors, int rows, int columns, void* a, int leading, void* s,
                             void* u, int left_leading, void* v, int right_leading, void* room, int elements,
                             int* info, void*, int batch) {
    return singular_batch<float>("cusolverDnSgesvdjBatched", handle, vectors, rows, columns, a, leading, s, u,
                                 left_leading, v, right_leading, room, elements, info, batch);
}
int cusolverDnDgesvdjBatched_bufferSize(void*, int, int, int, const void*, int, const void*, const void*, int,
                                        const void*, int, int* elements, void*, int) {
    return say_elements("cusolverDnDgesvdjBatched_bufferSize", elements);
}
int cusolverDnDgesvdjBatched(void* handle, int vectors, int rows, int columns, void* a, int leading, void* s,
                             void* u, int left_leading, void* v, int right_leading, void* room, int elements,
                             int* info, void*, int batch) {
    return singular_batch<double>("cusolverDnDgesvdjBatched", handle, vectors, rows, columns, a, leading, s,
                                  u, left_leading, v, right_leading, room, elements, info, batch);
}
int cusolverDnCgesvdjBatched_bufferSize(void*, int, int, int, const void*, int, const void*, const void*, int,
                                        const void*, int, int* elements, void*, int) {
    return say_elements("cusolverDnCgesvdjBatched_bufferSize", elements);
}
int cusolverDnCgesvdjBatched(void* handle, int vectors, int rows, int columns, void* a, int leading, void* s,
                             void* u, int left_leading, void* v, int right_leading, void* room, int elements,
                             int* info, void*, int batch) {
    return singular_batch<std::complex<float>>("cusolverDnCgesvdjBatched", handle, vectors, rows, columns, a,
                                               leading, s, u, left_leading, v, right_leading, room, elements,
                                               info, batch);
}
int cusolverDnZgesvdjBatched_bufferSize(void*, int, int, int, const void*, int, const void*, const void*, int,
                                        const void*, int, int* elements, void*, int) {
    return say_elements("cusolverDnZgesvdjBatched_bufferSize", elements);
}
int cusolverDnZgesvdjBatched(void* handle, int vectors, int rows, int columns, void* a, int leading, void* s,
                             void* u, int left_leading, void* v, int right_leading, void* room, int elements,
                             int* info, void*, int batch) {
    return singular_batch<std::complex<double>>("cusolverDnZgesvdjBatched", handle, vectors, rows, columns, a,
                                                leading, s, u, left_leading, v, right_leading, room, elements,
                                                info, batch);
}

}  // extern "C"
