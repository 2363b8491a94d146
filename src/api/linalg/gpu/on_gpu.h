// The functions of weft/linalg.h for arrays on a GPU, by cuSOLVER and cuBLAS. What they are given has been
// checked; they compute as `dtype`. No result: the CPU has to do it, and `why` is the reason.
#pragma once

#include <optional>
#include <string>

#include "weft/linalg.h"

namespace weft::linalg::gpu {

/// `batch` is that of the result.
std::optional<array> solve(const array& a, const array& b, DType dtype, const Dims& batch, std::string& why);
std::optional<array> inverse(const array& a, DType dtype, bool singular_is_nan, std::string& why);
std::optional<array> det(const array& a, DType dtype, std::string& why);
std::optional<SlogdetResult> slogdet(const array& a, DType dtype, std::string& why);

std::optional<array> cholesky(const array& a, DType dtype, bool upper, std::string& why);
std::optional<QRResult> qr(const array& a, DType dtype, QRMode mode, std::string& why);
std::optional<array> qr_r(const array& a, DType dtype, std::string& why);
std::optional<RawQR> qr_raw(const array& a, DType dtype, std::string& why);

std::optional<EigResult> eig(const array& a, DType dtype, std::string& why);
std::optional<array> eigvals(const array& a, DType dtype, std::string& why);
std::optional<EighResult> eigh(const array& a, DType dtype, bool upper, std::string& why);
std::optional<array> eigvalsh(const array& a, DType dtype, bool upper, std::string& why);

std::optional<SVDResult> svd(const array& a, DType dtype, bool full_matrices, std::string& why);
std::optional<array> svdvals(const array& a, DType dtype, std::string& why);
/// Of two axes each; `b` may have one.
std::optional<LstsqResult> lstsq(const array& a, const array& b, DType dtype, double rcond, std::string& why);

}  // namespace weft::linalg::gpu
