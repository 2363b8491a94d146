#pragma once
#include "ops/scalar/math.h"
extern "C" double Sleef_finz_erfd1_u10purecfma(double);
extern "C" float Sleef_finz_erff1_u10purecfma(float);
extern "C" double Sleef_finz_erfcd1_u15purecfma(double);
extern "C" float Sleef_finz_erfcf1_u15purecfma(float);
namespace weft::scalar::inline WEFT_ISA {
inline double erf(double x) { return Sleef_finz_erfd1_u10purecfma(x); }
inline float erf(float x) { return Sleef_finz_erff1_u10purecfma(x); }
inline double erfc(double x) { return Sleef_finz_erfcd1_u15purecfma(x); }
inline float erfc(float x) { return Sleef_finz_erfcf1_u15purecfma(x); }
}
