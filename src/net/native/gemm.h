// Matrix products over panels of `W` columns: a matrix of rows lies as [columns / W][stride][W], where `stride` counts the rows of the block.
// Lanes run along the results, never along a sum, and a sum runs in order in one accumulator: so a result is the same to the bit at
// every width, and the same as in kernels/assembly/gemm.ts, whose sums run in the same order.
#pragma once
#include "simd.h"

// Columns in whole panels.
ALWAYS int padded(int columns) { return (columns + W - 1) / W * W; }

ALWAYS float *cell(float *base, int stride, int row, int column) {
  return base + ((size_t)(column / W) * stride + row) * W + column % W;
}

// Tiles of rows x panels that keep all accumulators in registers.
#if W == 8
#define TILE_ROWS 6
#else
#define TILE_ROWS 8
#endif

static void activate(int kind, float *y, int columns, int stride) {
  const float *end = y + (size_t)columns * stride;
  if (kind == 1)
    for (; y < end; y += W) store(y, tanhOf(load(y)));
  else if (kind == 2)
    for (; y < end; y += W) store(y, pmax(load(y), splat(0)));
}

// `w` is [panels][depth][W]; the sum of a result starts from its bias, from itself (`accumulate`), or from zero. The activation follows tile
// by tile, so that its divisions go on beside the next tile's products.
ALWAYS void multiplyTile(
    const float *x, int depth, int stride, const float *w, const float *bias, int accumulate, int activation, float *y, const int rows,
    const int panels) {
  vw sums[TILE_ROWS][4];
  const size_t wStep = (size_t)depth * W, yStep = (size_t)stride * W;
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
    for (int c = 0; c < panels; c++)
      sums[r][c] = bias ? load(bias + c * W) : accumulate ? load(y + c * yStep + r * W) : splat(0);
  for (int k = 0; k < depth; k += W, x += yStep) {
    const float *a = x;
    const int count = depth - k < W ? depth - k : W;
    for (int j = 0; j < count; j++, a++, w += W) {
      vw line[4];
#pragma GCC unroll 4
      for (int c = 0; c < panels; c++) line[c] = load(w + c * wStep);
#pragma GCC unroll 8
      for (int r = 0; r < rows; r++) {
        const vw s = splat(a[r * W]);
#pragma GCC unroll 4
        for (int c = 0; c < panels; c++) sums[r][c] = madd(s, line[c], sums[r][c]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
    for (int c = 0; c < panels; c++) store(y + c * yStep + r * W, sums[r][c]);
  if (activation)
    for (int c = 0; c < panels; c++) activate(activation, y + c * yStep, W, rows);
}

// The inputs are read row by row, so that a few panels of weights stay in the first-level cache while all rows pass.
ALWAYS void multiplyPanels(
    const float *x, int depth, int stride, const float *w, const float *bias, int accumulate, int activation, float *y, int rows,
    const int panels) {
  int row = 0;
#define ROWS(count) multiplyTile(x + row * W, depth, stride, w, bias, accumulate, activation, y + row * W, count, panels)
  if (panels <= 2)
    for (; row + TILE_ROWS <= rows; row += TILE_ROWS) ROWS(TILE_ROWS);
  for (; row + 4 <= rows; row += 4) ROWS(4);
  for (; row + 2 <= rows; row += 2) ROWS(2);
  if (row < rows) ROWS(1);
#undef ROWS
}

// y = start + x w for the first `rows` rows, through the activation; `columns` of y are whole panels.
static void multiply(
    const float *x, int depth, int stride, const float *w, const float *bias, int accumulate, int activation, float *y, int columns, int rows) {
  int panels = columns / W;
#define PANELS(count) \
  { \
    multiplyPanels(x, depth, stride, w, bias, accumulate, activation, y, rows, count); \
    w += (size_t)(count) * depth * W; \
    y += (size_t)(count) * stride * W; \
    if (bias) bias += (count) * W; \
    panels -= count; \
  }
#if W != 8
  // A few rows want more panels, to have enough sums under way.
  if (rows < TILE_ROWS)
    while (panels >= 4) PANELS(4)
#else
  if (rows < 4)
    while (panels >= 4) PANELS(4)
#endif
  while (panels >= 2) PANELS(2)
  if (panels) PANELS(1)
#undef PANELS
}

// Adds the sums over rows of x[row][input] * delta[row][output] to `gradient`, [outputs / W][inputs][W].
ALWAYS void accumulateTile(
    const float *x, const float *delta, int stride, int rows, float *gradient, size_t gStep, const int inputs, const int panels) {
  vw sums[8][4];
#pragma GCC unroll 8
  for (int i = 0; i < inputs; i++)
#pragma GCC unroll 4
    for (int c = 0; c < panels; c++) sums[i][c] = load(gradient + c * gStep + i * W);
  for (int row = 0; row < rows; row++, x += W, delta += W) {
    vw line[4];
#pragma GCC unroll 4
    for (int c = 0; c < panels; c++) line[c] = load(delta + (size_t)c * stride * W);
#pragma GCC unroll 8
    for (int i = 0; i < inputs; i++) {
      const vw s = splat(x[i]);
#pragma GCC unroll 4
      for (int c = 0; c < panels; c++) sums[i][c] = madd(s, line[c], sums[i][c]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < inputs; i++)
#pragma GCC unroll 4
    for (int c = 0; c < panels; c++) store(gradient + c * gStep + i * W, sums[i][c]);
}

ALWAYS void accumulatePanels(
    const float *x, int inputs, const float *delta, int stride, int rows, float *gradient, size_t gStep, const int panels) {
  int input = 0;
#define INPUTS(count) accumulateTile(cell((float *)x, stride, 0, input), delta, stride, rows, gradient + input * W, gStep, count, panels)
#if W > 4
  if (panels == 1)
    for (; input + 8 <= inputs; input += 8) INPUTS(8);
#endif
  for (; input + 4 <= inputs; input += 4) INPUTS(4);
  for (; input < inputs; input++) INPUTS(1);
#undef INPUTS
}

static void accumulateWeights(const float *x, int inputs, const float *delta, int outputs, int stride, int rows, float *gradient) {
  const size_t gStep = (size_t)inputs * W;
  int panels = padded(outputs) / W;
#define PANELS(count) \
  { \
    accumulatePanels(x, inputs, delta, stride, rows, gradient, gStep, count); \
    delta += (size_t)(count) * stride * W; \
    gradient += (count) * gStep; \
    panels -= count; \
  }
#if W == 8
  while (panels >= 3) PANELS(3)
#else
  while (panels >= 4) PANELS(4)
#endif
  while (panels >= 2) PANELS(2)
  if (panels) PANELS(1)
#undef PANELS
}

static void accumulateBias(const float *delta, int outputs, int stride, int rows, float *gradient) {
  const size_t step = (size_t)stride * W;
  int column = 0;
  // Four sums that do not wait for one another.
  for (; column + 4 * W <= padded(outputs); column += 4 * W, delta += 4 * step, gradient += 4 * W) {
    vw a = load(gradient), b = load(gradient + W), c = load(gradient + 2 * W), d = load(gradient + 3 * W);
    for (const float *at = delta, *end = delta + (size_t)rows * W; at < end; at += W) {
      a = a + load(at);
      b = b + load(at + step);
      c = c + load(at + 2 * step);
      d = d + load(at + 3 * step);
    }
    store(gradient, a);
    store(gradient + W, b);
    store(gradient + 2 * W, c);
    store(gradient + 3 * W, d);
  }
  for (; column < outputs; column += W, delta += step, gradient += W) {
    vw sum = load(gradient);
    for (int row = 0; row < rows; row++) sum = sum + load(delta + row * W);
    store(gradient, sum);
  }
}

// Rows of mostly zero inputs, by a list of those that are not: see kernels/assembly/sparse.ts, whose choice of rows this repeats.
typedef struct {
  uint32_t input;
  float value;
} Entry;

#define LEAST_COLUMNS 32

// Lists a row's inputs that are not zero; returns their end, or null where there are more than `most`.
static Entry *listRow(const float *row, int columns, Entry *to, int most) {
  const Entry *end = to + most;
  for (int column = 0; column < columns;) {
    uint64_t there = 0;
    const int count = columns - column < 64 ? columns - column : 64;
    int n = 0;
#if W == 16
    for (; n + 16 <= count; n += 16)
      there |= (uint64_t)_mm512_cmp_ps_mask(_mm512_loadu_ps(row + column + n), _mm512_setzero_ps(), _CMP_NEQ_UQ) << n;
#elif W == 8
    for (; n + 8 <= count; n += 8)
      there |= (uint64_t)(uint32_t)_mm256_movemask_ps(
                   _mm256_cmp_ps(_mm256_loadu_ps(row + column + n), _mm256_setzero_ps(), _CMP_NEQ_UQ))
               << n;
#endif
    for (; n < count; n++) there |= (uint64_t)(row[column + n] != 0) << n;
    if (to + __builtin_popcountll(there) > end) return 0;
    for (; there; there &= there - 1) {
      const int input = column + __builtin_ctzll(there);
      *to++ = (Entry){(uint32_t)input, row[input]};
    }
    column += 64;
  }
  return to;
}

ALWAYS void multiplyEntries(const Entry *from, const Entry *end, const float *w, size_t wStep, const float *bias, float *y, size_t yStep, const int panels) {
  vw sums[8];
#pragma GCC unroll 8
  for (int c = 0; c < panels; c++) sums[c] = load(bias + c * W);
  for (; from < end; from++) {
    const vw s = splat(from->value);
    const float *line = w + (size_t)from->input * W;
#pragma GCC unroll 8
    for (int c = 0; c < panels; c++) sums[c] = madd(s, load(line + c * wStep), sums[c]);
  }
#pragma GCC unroll 8
  for (int c = 0; c < panels; c++) store(y + c * yStep, sums[c]);
}

// What `multiply` does with a bias, from the list of inputs; row i has the entries from starts[i] on.
static void multiplyListed(
    const Entry *entries, const uint32_t *starts, const float *w, int inputs, const float *bias, float *y, int columns, int stride, int rows) {
  const size_t wStep = (size_t)inputs * W, yStep = (size_t)stride * W;
  for (int row = 0; row < rows; row++) {
    const Entry *from = entries + starts[row], *end = entries + starts[row + 1];
    int c = 0;
    const int panels = columns / W;
#define PANELS(count) multiplyEntries(from, end, w + c * wStep, wStep, bias + c * W, y + c * yStep + row * W, yStep, count)
    for (; c + 8 <= panels; c += 8) PANELS(8);
    for (; c + 4 <= panels; c += 4) PANELS(4);
    for (; c < panels; c++) PANELS(1);
#undef PANELS
  }
}

// What `accumulateWeights` does, from the list of inputs.
static void accumulateListed(
    const Entry *entries, const uint32_t *starts, int rows, const float *delta, int outputs, int stride, float *gradient, int inputs) {
  const size_t gStep = (size_t)inputs * W, step = (size_t)stride * W;
  int panels = padded(outputs) / W;
  for (; panels >= 2; panels -= 2, delta += 2 * step, gradient += 2 * gStep) {
    for (int row = 0; row < rows; row++) {
      const vw g0 = load(delta + row * W), g1 = load(delta + step + row * W);
      for (const Entry *at = entries + starts[row], *end = entries + starts[row + 1]; at < end; at++) {
        float *to = gradient + (size_t)at->input * W;
        const vw s = splat(at->value);
        store(to, madd(s, g0, load(to)));
        store(to + gStep, madd(s, g1, load(to + gStep)));
      }
    }
  }
  if (!panels) return;
  for (int row = 0; row < rows; row++) {
    const vw g = load(delta + row * W);
    for (const Entry *at = entries + starts[row], *end = entries + starts[row + 1]; at < end; at++) {
      float *to = gradient + (size_t)at->input * W;
      store(to, madd(splat(at->value), g, load(to)));
    }
  }
}
