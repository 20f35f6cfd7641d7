// One block of rows through a network and back; kernels/assembly/network.ts in panels of columns.
#pragma once
#include "gemm.h"
#include "structs.h"

// What one thread works with.
typedef struct {
  char *memory;
  char *scratch;
  // Whether the block that `forwardFrom` took last went by a list of its inputs, which its way back then uses too.
  int listed;
  // Candidates of the block at work.
  int items;
  // Of the latest four rows: the sum of their exponentials, its logarithm, and the entropy.
  v4 sums, logSums, entropies;
  // Sums of one lane, two doubles each.
  d2 statistics[8];
} Work;

#define FLOATS(at) ((float *)(work->memory + (at)))
#define INTS(at) ((int32_t *)(work->memory + (at)))
#define BYTES(at) ((uint8_t *)(work->memory + (at)))
#define SCRATCH(at) ((float *)(work->scratch + (at)))

ALWAYS int up8(int n) { return (n + 7) & ~7; }
ALWAYS int least(int a, int b) { return a < b ? a : b; }
ALWAYS int most(int a, int b) { return a > b ? a : b; }

/*
 * Rows of a block. On the way to an update there are `stride` of them, in eights, and those beyond `rows` have no weight. What they hold
 * can only turn a gradient of -0 into +0; to keep that bit too, they are what the WebAssembly kernels make of them: computed up to
 * `computed`, and zero from there.
 */
typedef struct {
  int rows, computed, stride;
} Block;

ALWAYS Block onlyRows(int rows) { return (Block){rows, rows, rows}; }
ALWAYS Block wholeRows(int rows) {
  const int tail = rows & 7, stride = up8(rows);
  return (Block){rows, tail && tail <= 4 ? stride - 4 : stride, stride};
}

ALWAYS Layer *layerAt(const Work *work, const Net *net, int index) { return (Layer *)(work->memory + net->layers) + index; }

// Where the output of layer `index` lies.
ALWAYS float *outputOf(const Work *work, const Net *net, int index, char *activations) {
  return (float *)(activations + (index + 1 < net->count ? layerAt(work, net, index + 1)->input : net->output));
}

// A layer's weights as `pack` lays them out: for the way forward, the bias, and for the way back.
ALWAYS float *forwardWeights(const Work *work, const Layer *layer) { return FLOATS(layer->packed); }
ALWAYS float *packedBias(const Work *work, const Layer *layer) {
  return FLOATS(layer->packed) + (size_t)padded(layer->outputs) * layer->inputs;
}
ALWAYS float *backwardWeights(const Work *work, const Layer *layer) { return packedBias(work, layer) + padded(layer->outputs); }

// Floats of a layer's gradients in a lane: weights [outputs / W][inputs][W], then the bias in whole panels.
ALWAYS size_t laneWeights(const Layer *layer) { return (size_t)padded(layer->outputs) * layer->inputs; }
ALWAYS size_t laneFloats(const Layer *layer) { return laneWeights(layer) + padded(layer->outputs); }

// Where a layer's gradients begin in a lane of the network; those of the features come last.
static size_t laneOffset(const Work *work, const Net *net, int index) {
  size_t offset = 0;
  for (int i = 0; i < index; i++) offset += laneFloats(layerAt(work, net, i));
  return offset;
}
static size_t netLaneFloats(const Work *work, const Net *net) {
  return laneOffset(work, net, net->count) + (net->pointer ? laneWeights((Layer *)(work->memory + net->features)) : 0);
}

// Number of row order[at], or `at` without an order.
ALWAYS int rowAt(const Work *work, address order, int at) { return order ? INTS(order)[at] : at; }

// Rows order[first ..] of a row-major matrix into panels; columns up to a whole panel and rows up to the stride are zero.
static void gather(const Work *work, address source, int columns, address order, int first, Block block, float *to) {
  const int whole = columns / W * W;
  const size_t step = (size_t)block.stride * W;
  for (int row = 0; row < block.stride; row++, to += W) {
    float *out = to;
    if (row >= block.rows) {
      for (int column = 0; column < columns; column += W, out += step) store(out, splat(0));
      continue;
    }
    const float *from = FLOATS(source) + (size_t)columns * rowAt(work, order, first + row);
    for (int column = 0; column < whole; column += W, out += step) store(out, load(from + column));
    if (whole < columns) {
      store(out, splat(0));
      memcpy(out, from + whole, (size_t)(columns - whole) * 4);
    }
  }
}

// Panels back to row-major rows.
static void scatterRows(const float *source, int columns, Block block, float *to) {
  for (int row = 0; row < block.rows; row++, source += W) {
    const float *from = source;
    for (int column = 0; column < columns; column += W, from += (size_t)block.stride * W) {
      const int count = least(W, columns - column);
      memcpy(to, from, (size_t)count * 4);
      to += count;
    }
  }
}

// Rows from `computed` on become zero.
static void clearRest(float *y, int columns, Block block) {
  if (block.computed == block.stride) return;
  for (int column = 0; column < columns; column += W, y += (size_t)block.stride * W)
    for (int row = block.computed; row < block.stride; row++) store(y + row * W, splat(0));
}

// Multiplies deltas by the derivative of the activation, known from its result h.
static void throughActivation(int kind, float *delta, const float *h, size_t floats) {
  const float *end = delta + floats;
  if (kind == 1)
    for (; delta < end; delta += W, h += W) {
      const vw v = load(h);
      store(delta, load(delta) * (splat(1) - v * v));
    }
  else if (kind == 2)
    for (; delta < end; delta += W, h += W) store(delta, (vw)((iw)load(delta) & (iw)(load(h) > splat(0))));
}

// Layers `first` .. end; the input of the first one lies in its place.
static void forwardBlock(const Work *work, const Net *net, int first, char *activations, Block block) {
  for (int index = first; index < net->count; index++) {
    const Layer *layer = layerAt(work, net, index);
    float *y = outputOf(work, net, index, activations);
    const int columns = padded(layer->outputs);
    multiply(
        (float *)(activations + layer->input), layer->inputs, block.stride, forwardWeights(work, layer), packedBias(work, layer), 0,
        layer->activation, y, columns, block.computed);
    clearRest(y, columns, block);
  }
}

/*
 * From the deltas of the last layer's outputs, in `net.deltaA`, down to layer `last`, adding weight and bias gradients of every layer
 * from `last` up; returns where the deltas of the outputs of layer `last - 1`, before its activation, lie. With last = 0 those of the
 * input are made only if `wantInput`.
 */
static float *backwardBlock(const Work *work, const Net *net, int last, char *activations, Block block, float *lane, int wantInput) {
  float *delta = SCRATCH(net->deltaA), *other = SCRATCH(net->deltaB);
  const int rows = block.stride;
  for (int index = net->count - 1; index >= last; index--) {
    const Layer *layer = layerAt(work, net, index);
    const float *x = (float *)(activations + layer->input);
    float *gradient = lane + laneOffset(work, net, index);
    accumulateWeights(x, layer->inputs, delta, layer->outputs, rows, rows, gradient);
    accumulateBias(delta, layer->outputs, rows, rows, gradient + laneWeights(layer));
    if (index > 0 || wantInput) {
      const int columns = padded(layer->inputs);
      multiply(delta, layer->outputs, rows, backwardWeights(work, layer), 0, 0, 0, other, columns, rows);
      if (index > 0) throughActivation(layerAt(work, net, index - 1)->activation, other, x, (size_t)columns * rows);
      float *swap = delta;
      delta = other;
      other = swap;
    }
  }
  return delta;
}

// The inputs of a block's rows that are not zero: row i has the entries from starts[i] on.
typedef struct {
  Entry *entries;
  uint32_t *starts;
} List;

// Lists the inputs of the block's rows; false as soon as a row has too many of them.
static int listInputs(const Work *work, List list, address source, int columns, address order, int first, int rows) {
  if (columns < LEAST_COLUMNS) return 0;
  Entry *to = list.entries;
  list.starts[0] = 0;
  for (int i = 0; i < rows; i++) {
    to = listRow(FLOATS(source) + (size_t)columns * rowAt(work, order, first + i), columns, to, columns / SPARSITY);
    if (!to) return 0;
    list.starts[i + 1] = (uint32_t)(to - list.entries);
  }
  return 1;
}

// The whole network, its first layer from a list of inputs.
static void forwardListed(const Work *work, const Net *net, List list, char *activations, Block block) {
  const Layer *layer = layerAt(work, net, 0);
  float *y = outputOf(work, net, 0, activations);
  const int columns = padded(layer->outputs);
  multiplyListed(
      list.entries, list.starts, forwardWeights(work, layer), layer->inputs, packedBias(work, layer), y, columns, block.stride, block.rows);
  clearRest(y, columns, (Block){block.rows, block.rows, block.stride});
  activate(layer->activation, y, columns, block.stride);
  forwardBlock(work, net, 1, activations, block);
}

// The way back of a block that went forward by a list; returns where the deltas of the first layer's outputs lie.
static float *backwardListed(const Work *work, const Net *net, List list, char *activations, Block block, float *lane) {
  float *delta = backwardBlock(work, net, 1, activations, block, lane, 0);
  const Layer *layer = layerAt(work, net, 0);
  accumulateListed(list.entries, list.starts, block.rows, delta, layer->outputs, block.stride, lane, layer->inputs);
  accumulateBias(delta, layer->outputs, block.stride, block.stride, lane + laneWeights(layer));
  return delta;
}

ALWAYS List listOf(const Work *work, const Net *net) { return (List){(Entry *)SCRATCH(net->entries), (uint32_t *)SCRATCH(net->starts)}; }

// Rows order[first ..] of a row-major matrix through the whole network.
static void forwardFrom(Work *work, const Net *net, address source, address order, int first, Block block) {
  const Layer *layer = layerAt(work, net, 0);
  work->listed = listInputs(work, listOf(work, net), source, layer->inputs, order, first, block.rows);
  if (work->listed) return forwardListed(work, net, listOf(work, net), work->scratch, block);
  gather(work, source, layer->inputs, order, first, block, SCRATCH(layer->input));
  forwardBlock(work, net, 0, work->scratch, block);
}

// The way back of the block that `forwardFrom` took last.
static void backwardFrom(const Work *work, const Net *net, Block block, float *lane) {
  if (work->listed) backwardListed(work, net, listOf(work, net), work->scratch, block, lane);
  else backwardBlock(work, net, 0, work->scratch, block, lane, 0);
}
