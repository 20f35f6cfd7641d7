// Vectors: four lanes for what goes by four rows, `W` lanes for the networks. Only `madd` rounds once; nothing else may be contracted.
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define ALWAYS static inline __attribute__((always_inline))

typedef float v4 __attribute__((vector_size(16)));
typedef int32_t i4 __attribute__((vector_size(16)));
typedef double d2 __attribute__((vector_size(16)));
typedef int64_t l2 __attribute__((vector_size(16)));
typedef float vw __attribute__((vector_size(4 * W)));
typedef int32_t iw __attribute__((vector_size(4 * W)));

ALWAYS v4 load4(const float *at) { v4 v; memcpy(&v, at, sizeof v); return v; }
ALWAYS void store4(float *at, v4 v) { memcpy(at, &v, sizeof v); }
ALWAYS vw load(const float *at) { vw v; memcpy(&v, at, sizeof v); return v; }
ALWAYS void store(float *at, vw v) { memcpy(at, &v, sizeof v); }
ALWAYS v4 splat4(float x) { return (v4){x, x, x, x}; }
ALWAYS d2 splat2(double x) { return (d2){x, x}; }
ALWAYS v4 both4(v4 a, i4 mask) { return (v4)((i4)a & mask); }
ALWAYS v4 except4(v4 a, i4 mask) { return (v4)((i4)a & ~mask); }
ALWAYS v4 choose4(v4 a, v4 b, i4 mask) { return (v4)(((i4)a & mask) | ((i4)b & ~mask)); }
ALWAYS v4 abs4(v4 a) { return (v4)((i4)a & (i4){0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff}); }
ALWAYS v4 upper4(v4 a) { return (v4){a[2], a[3], a[2], a[3]}; }
ALWAYS double sum2(d2 v) { return v[0] + v[1]; }

// pmin and pmax are those of WebAssembly: a NaN in the first operand stays.
#if defined(__x86_64__)
ALWAYS v4 madd4(v4 a, v4 b, v4 c) { return (v4)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c); }
ALWAYS v4 sqrt4(v4 a) { return (v4)_mm_sqrt_ps((__m128)a); }
ALWAYS v4 pmin4(v4 a, v4 b) { return (v4)_mm_min_ps((__m128)b, (__m128)a); }
ALWAYS v4 pmax4(v4 a, v4 b) { return (v4)_mm_max_ps((__m128)b, (__m128)a); }
ALWAYS d2 promote(v4 a) { return (d2)_mm_cvtps_pd((__m128)a); }
#else
ALWAYS v4 madd4(v4 a, v4 b, v4 c) { return (v4)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
ALWAYS v4 sqrt4(v4 a) { return (v4)vsqrtq_f32((float32x4_t)a); }
ALWAYS v4 pmin4(v4 a, v4 b) { return choose4(b, a, (i4)(b < a)); }
ALWAYS v4 pmax4(v4 a, v4 b) { return choose4(b, a, (i4)(a < b)); }
ALWAYS d2 promote(v4 a) { return (d2)vcvt_f64_f32(vget_low_f32((float32x4_t)a)); }
#endif

// The lanes as doubles added to a pair of running sums.
ALWAYS d2 widen(d2 sums, v4 v) { return (sums + promote(v)) + promote(upper4(v)); }

#if W == 4
ALWAYS vw splat(float x) { return splat4(x); }
ALWAYS vw madd(vw a, vw b, vw c) { return madd4(a, b, c); }
ALWAYS vw vsqrt(vw a) { return sqrt4(a); }
ALWAYS vw pmin(vw a, vw b) { return pmin4(a, b); }
ALWAYS vw pmax(vw a, vw b) { return pmax4(a, b); }
#elif W == 8
ALWAYS vw splat(float x) { return (vw)_mm256_set1_ps(x); }
ALWAYS vw madd(vw a, vw b, vw c) { return (vw)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
ALWAYS vw vsqrt(vw a) { return (vw)_mm256_sqrt_ps((__m256)a); }
ALWAYS vw pmin(vw a, vw b) { return (vw)_mm256_min_ps((__m256)b, (__m256)a); }
ALWAYS vw pmax(vw a, vw b) { return (vw)_mm256_max_ps((__m256)b, (__m256)a); }
#else
ALWAYS vw splat(float x) { return (vw)_mm512_set1_ps(x); }
ALWAYS vw madd(vw a, vw b, vw c) { return (vw)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
ALWAYS vw vsqrt(vw a) { return (vw)_mm512_sqrt_ps((__m512)a); }
ALWAYS vw pmin(vw a, vw b) { return (vw)_mm512_min_ps((__m512)b, (__m512)a); }
ALWAYS vw pmax(vw a, vw b) { return (vw)_mm512_max_ps((__m512)b, (__m512)a); }
#endif

// The polynomials of kernels/assembly/simd.ts, operation by operation.
ALWAYS v4 exp4(v4 x) {
  x = pmin4(pmax4(x, splat4(-87.0f)), splat4(88.0f));
  const v4 shift = splat4(12582912.0f);
  const v4 rounded = madd4(x, splat4((float)1.4426950408889634), shift);
  const v4 whole = rounded - shift;
  v4 r = madd4(whole, splat4((float)-0.693359375), x);
  r = madd4(whole, splat4((float)0.00021219444005469058), r);
  v4 p = madd4(r, splat4((float)0.0013813143341426734), splat4((float)0.00836941894936224));
  p = madd4(p, r, splat4((float)0.04166845681230863));
  p = madd4(p, r, splat4((float)0.16666514790150658));
  p = madd4(p, r, splat4((float)0.49999993050597696));
  p = madd4(p * r, r, r);
  p = p + splat4(1.0f);
  return (v4)((i4)p + ((i4)rounded << 23));
}

ALWAYS v4 log4(v4 x) {
  const i4 half = {0x3f3504f3, 0x3f3504f3, 0x3f3504f3, 0x3f3504f3};
  const i4 low = {0x007fffff, 0x007fffff, 0x007fffff, 0x007fffff};
  const i4 shifted = (i4)x - half;
  const v4 exponent = __builtin_convertvector(shifted >> 23, v4);
  const v4 f = (v4)((shifted & low) + half) - splat4(1.0f);
  v4 p = madd4(f, splat4((float)0.0674661892697583), splat4((float)-0.11675646000783405));
  p = madd4(p, f, splat4((float)0.11888169045081264));
  p = madd4(p, f, splat4((float)-0.12405590299421838));
  p = madd4(p, f, splat4((float)0.14219551563736516));
  p = madd4(p, f, splat4((float)-0.16667995750873274));
  p = madd4(p, f, splat4((float)0.20002118699035407));
  p = madd4(p, f, splat4((float)-0.2500000960174383));
  p = madd4(p, f, splat4((float)0.333333126033726));
  const v4 square = f * f;
  v4 small = (p * f) * square;
  small = madd4(exponent, splat4((float)-0.00021219444005469058), small);
  small = madd4(square, splat4(-0.5f), small);
  return madd4(exponent, splat4((float)0.693359375), f + small);
}

ALWAYS vw tanhOf(vw x) {
  const vw one = splat(1.0f);
  x = pmin(pmax(x, splat((float)-9.02)), splat((float)9.02));
  const vw u = x * x;
  vw p = madd(u, splat((float)1.3318970541670594e-8), splat((float)0.00002058340587082864));
  p = madd(p, u, splat((float)0.0034940299435221966));
  p = madd(p, u, splat((float)0.13379714065938572));
  p = x * madd(p, u, one);
  vw q = madd(u, splat((float)7.761977195893155e-7), splat((float)0.0003283085300452755));
  q = madd(q, u, splat((float)0.02587105566152963));
  q = madd(q, u, splat((float)0.46713029309976317));
  q = madd(q, u, one);
  return pmax(pmin(p / q, one), splat(-1.0f));
}
