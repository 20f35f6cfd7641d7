// What networks by themselves are taught, over row-major outputs; kernels/assembly/learn.ts, operation by operation.
#pragma once
#include "network.h"

enum { BERNOULLI = 1, GAUSSIAN, CHOICE };
// Factors of at most 2 whose product is far from overflow: its logarithm is the sum of theirs.
#define FACTORS 16

// The first `count` of four values; the others are zero.
ALWAYS v4 part4(const float *at, int count) {
  v4 v = splat4(0);
  if (count >= 4) return load4(at);
  for (int i = 0; i < count; i++) v[i] = at[i];
  return v;
}
ALWAYS void storePart4(float *at, v4 v, int count) {
  if (count >= 4) return store4(at, v);
  for (int i = 0; i < count; i++) at[i] = v[i];
}
ALWAYS i4 firstLanes(int count) { return (i4){0, 1, 2, 3} < (i4){count, count, count, count}; }

// log(1 + e^z) - target z, without overflow: one exponential serves the value and the gradient.
static double bernoulli(const float *z, const float *targets, float *gradient, int count, float share) {
  const v4 one = splat4(1);
  d2 sums = splat2(0);
  v4 product = one;
  int factors = 0;
  for (int i = 0; i < count; i += 4) {
    const int lanes = count - i;
    const v4 logit = part4(z + i, lanes), target = part4(targets + i, lanes);
    const v4 e = exp4(splat4(0) - abs4(logit)), whole = one + e;
    sums = widen(sums, pmax4(logit, splat4(0)) - target * logit);
    product = product * choose4(whole, one, firstLanes(lanes));
    if (++factors == FACTORS) {
      sums = widen(sums, log4(product));
      product = one;
      factors = 0;
    }
    storePart4(gradient + i, splat4(share) * (choose4(one, e, (i4)(logit > splat4(0))) / whole - target), lanes);
  }
  return sum2(widen(sums, log4(product)));
}

static double gaussian(const float *means, const float *targets, float *gradient, int count, float share) {
  d2 sums = splat2(0);
  for (int i = 0; i < count; i += 4) {
    const v4 error = part4(means + i, count - i) - part4(targets + i, count - i);
    sums = widen(sums, error * error);
    storePart4(gradient + i, splat4(share) * error, count - i);
  }
  return 0.5 * sum2(sums);
}

// Exponentials of a row's legal logits above the largest of them, which `largest` becomes; zero for the others. Returns their sum.
static float powers(const float *z, int32_t legal, int columns, float *to, float *largest) {
  *largest = -INFINITY;
  for (int c = 0; c < columns; c++)
    if ((!legal || (legal >> c & 1)) && !(z[c] <= *largest)) *largest = z[c];
  v4 sums = splat4(0);
  for (int c = 0; c < columns; c += 4) {
    const int32_t bits = legal ? legal >> c : -1;
    const i4 there = firstLanes(columns - c) & (((i4){bits, bits, bits, bits} & (i4){1, 2, 4, 8}) != (i4){0, 0, 0, 0});
    const v4 power = both4(exp4(part4(z + c, columns - c) - splat4(*largest)), there);
    sums = sums + power;
    storePart4(to + c, power, columns - c);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Cross-entropy of each row's right choice; a row whose target is negative is left out.
static double choices(const float *z, const int32_t *targets, const int32_t *legal, float *gradient, int rows, int columns, float share) {
  double loss = 0;
  for (int row = 0; row < rows; row++, z += columns, gradient += columns) {
    const int target = targets[row];
    if (target < 0) {
      memset(gradient, 0, (size_t)columns * 4);
      continue;
    }
    float largest;
    const float sum = powers(z, legal[row], columns, gradient, &largest), scale = share / sum;
    loss += (double)((largest + log4(splat4(sum))[0]) - z[target]);
    for (int c = 0; c < columns; c++) gradient[c] = gradient[c] * scale;
    gradient[target] = gradient[target] - share;
  }
  return loss;
}

// Each row's probabilities, `stride` apart; zeros where `legal` is negative.
static void shares(const float *z, const int32_t *legal, float *out, int rows, int columns, int stride) {
  for (int row = 0; row < rows; row++, z += columns, out += stride) {
    if (legal[row] < 0) {
      memset(out, 0, (size_t)columns * 4);
      continue;
    }
    float largest;
    const float sum = powers(z, legal[row], columns, out, &largest);
    for (int c = 0; c < columns; c++) out[c] = out[c] / sum;
  }
}

// The loss of rows first .. first + rows, and its gradient by their outputs.
static double lossOf(const Work *work, const Pass *pass, int columns, int first, int rows) {
  const size_t at = (size_t)first * columns;
  const float *y = FLOATS(pass->y) + at;
  float *gradient = FLOATS(pass->gradOut) + at;
  if (pass->loss == CHOICE)
    return choices(y, INTS(pass->targets) + first, INTS(pass->legal) + first, gradient, rows, columns, pass->share);
  return (pass->loss == BERNOULLI ? bernoulli : gaussian)(y, FLOATS(pass->targets) + at, gradient, rows * columns, pass->share);
}
