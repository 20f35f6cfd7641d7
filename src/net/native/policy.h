// Rows of decisions through actor and critic: forward for rollouts and replays, and one lane of a PPO update; kernels/assembly/policy.ts.
#pragma once
#include "loss.h"

// How many rows from `first` make the next block: up to BLOCK, and with a pointer head up to ITEMS candidates, but at least one.
static int blockRows(const Work *work, const Job *job, const Net *net, int first, int end) {
  const int rows = least(end - first, BLOCK);
  if (!net->pointer) return rows;
  const int32_t *offsets = INTS(job->offsets);
  int items = 0;
  for (int i = 0; i < rows; i++) {
    const int row = rowNumber(work, job, first + i);
    items += offsets[row + 1] - offsets[row];
    if (items > ITEMS) return most(i, 1);
  }
  return rows;
}

ALWAYS Block blockOf(int rows, int whole) { return whole ? wholeRows(rows) : onlyRows(rows); }

// The actor's outputs for a block: global logits by row, or one score for each candidate of the block in turn (`items` of them). Returns
// the block of those outputs; `whole` as an update needs it.
static Block actorForward(Work *work, const Job *job, const Net *net, int first, int rows, int whole) {
  const Block block = blockOf(rows, whole);
  if (!net->pointer) {
    forwardFrom(work, net, job->obs, job->order, first, block);
    return block;
  }
  const Layer *layer = layerAt(work, net, 0), *features = (Layer *)(work->memory + net->features);
  gather(work, job->obs, layer->inputs, job->order, first, block, SCRATCH(layer->input));
  const int32_t *offsets = INTS(job->offsets);
  int32_t *rowOfItem = (int32_t *)SCRATCH(net->rowOfItem);
  int items = 0;
  for (int i = 0; i < rows; i++) {
    const int row = rowNumber(work, job, first + i);
    for (int count = offsets[row + 1] - offsets[row]; count > 0; count--) rowOfItem[items++] = i;
  }
  work->items = items;
  const Block itemBlock = blockOf(items, whole);
  float *f = SCRATCH(features->input);
  const int columns = features->inputs;
  for (int item = 0, i = 0; i < rows; i++) {
    const int row = rowNumber(work, job, first + i);
    const float *source = FLOATS(job->features) + (size_t)offsets[row] * columns;
    for (int count = offsets[row + 1] - offsets[row]; count > 0; count--, item++)
      for (int k = 0; k < columns; k++) *cell(f, itemBlock.stride, item, k) = *source++;
  }
  for (int item = items; item < itemBlock.stride; item++) {
    rowOfItem[item] = 0;
    for (int k = 0; k < columns; k++) *cell(f, itemBlock.stride, item, k) = 0;
  }
  // The observation's part of the first layer is made once per row, then each candidate adds its own.
  const int lines = padded(layer->outputs);
  float *part = SCRATCH(net->rowPart), *y = outputOf(work, net, 0, work->scratch);
  multiply(
      SCRATCH(layer->input), layer->inputs, block.stride, forwardWeights(work, layer), packedBias(work, layer), 0, 0, part, lines, block.rows);
  for (int c = 0; c < lines / W; c++)
    for (int item = 0; item < itemBlock.computed; item++)
      store(y + ((size_t)c * itemBlock.stride + item) * W, load(part + ((size_t)c * block.stride + rowOfItem[item]) * W));
  multiply(f, columns, itemBlock.stride, forwardWeights(work, features), 0, 1, layer->activation, y, lines, itemBlock.computed);
  clearRest(y, lines, itemBlock);
  forwardBlock(work, net, 1, work->scratch, itemBlock);
  return itemBlock;
}

static void actorBackward(const Work *work, const Net *net, int rows, Block outputs, float *lane) {
  if (!net->pointer) {
    backwardFrom(work, net, outputs, lane);
    return;
  }
  const float *delta = backwardBlock(work, net, 1, work->scratch, outputs, lane, 0);
  const Layer *layer = layerAt(work, net, 0), *features = (Layer *)(work->memory + net->features);
  const Block block = wholeRows(rows);
  const int32_t *rowOfItem = (int32_t *)SCRATCH(net->rowOfItem);
  float *rowDelta = SCRATCH(net->rowPanel);
  accumulateWeights(
      SCRATCH(features->input), features->inputs, delta, layer->outputs, outputs.stride, outputs.stride, lane + laneOffset(work, net, net->count));
  // Items are summed into their rows.
  const int panels = padded(layer->outputs) / W;
  memset(rowDelta, 0, (size_t)panels * block.stride * W * 4);
  for (int c = 0; c < panels; c++)
    for (int item = 0; item < outputs.rows; item++) {
      float *to = rowDelta + ((size_t)c * block.stride + rowOfItem[item]) * W;
      store(to, load(to) + load(delta + ((size_t)c * outputs.stride + item) * W));
    }
  accumulateWeights(SCRATCH(layer->input), layer->inputs, rowDelta, layer->outputs, block.stride, block.stride, lane);
  accumulateBias(rowDelta, layer->outputs, block.stride, block.stride, lane + laneWeights(layer));
}

// Distributions of the block's rows [i, i + 4), and actions where there are uniforms; returns the number of their candidates.
static int chooseRows(Work *work, const Job *job, const Net *net, int stride, int first, int i, int rows, int item) {
  float *z = SCRATCH(net->local), *e = SCRATCH(net->localProbability);
  const int32_t *offsets = INTS(job->offsets);
  distribution(work, z, e, gatherLogits(work, job, net, stride, first, i, rows, item));
  int candidates = 0;
  for (int r = i, end = least(i + 4, rows); r < end; r++) {
    const int at = first + r, lane = r - i, row = rowNumber(work, job, at), count = offsets[row + 1] - offsets[row];
    int action;
    if (job->uniforms) {
      action = sample(e + lane, count, FLOATS(job->uniforms)[at]);
      INTS(job->outAction)[at] = action;
    } else action = INTS(job->action)[row];
    const int place = placeOf(work, job, at);
    FLOATS(job->outLogp)[place] = distanceOf(z + lane, count, action) - work->logSums[lane];
    FLOATS(job->outEntropy)[place] = work->entropies[lane];
    candidates += count;
  }
  return candidates;
}

// Rows [first, end): distributions, and actions where there are uniforms.
static void actorRows(Work *work, const Job *job, const Net *net, int first, int end) {
  while (first < end) {
    const int rows = blockRows(work, job, net, first, end);
    const Block outputs = actorForward(work, job, net, first, rows, 0);
    for (int i = 0, item = 0; i < rows; i += 4) item += chooseRows(work, job, net, outputs.stride, first, i, rows, item);
    first += rows;
  }
}

static void criticForward(Work *work, const Job *job, const Net *net, int first, Block block) {
  forwardFrom(work, net, job->state, job->order, first, block);
  for (int i = 0; i < block.rows; i++)
    FLOATS(job->outValue)[placeOf(work, job, first + i)] = *cell(SCRATCH(net->output), block.stride, i, 0);
}

// Rows [first, end): values.
static void criticRows(Work *work, const Job *job, const Net *net, int first, int end) {
  for (; first < end; first += BLOCK) criticForward(work, job, net, first, onlyRows(least(end - first, BLOCK)));
}

ALWAYS int laneCount(int rows) { return rows < MANY_ROWS ? LANES : 2 * LANES; }

// The first row of a lane: eights of rows are dealt out evenly.
ALWAYS int laneStart(int rows, int lane) { return least(rows, (((rows + 7) >> 3) * lane / laneCount(rows)) << 3); }

// Rows [first, end) of a minibatch lie apart: what the next block reads is fetched while this one is at work.
static void fetchRows(const Work *work, const Job *job, address source, int columns, int first, int end, int lists) {
  const int32_t *offsets = INTS(job->offsets);
  for (int i = first; i < end; i++) {
    const int row = rowNumber(work, job, i);
    const char *from = (char *)(FLOATS(source) + (size_t)columns * row);
    for (int at = 0; at < columns * 4; at += 64) __builtin_prefetch(from + at, 0, 2);
    if (!lists) continue;
    __builtin_prefetch(INTS(job->subset) + offsets[row], 0, 2);
    __builtin_prefetch(BYTES(job->legal) + offsets[row], 0, 2);
  }
}

// Gradient of the loss by the lane's rows, actor only; the lane's gradients start from zero.
static void actorLane(Work *work, const Job *job, const Net *net, int lane) {
  float *gradient = FLOATS(job->lanes + (size_t)lane * job->laneBytes);
  memset(gradient, 0, netLaneFloats(work, net) * 4);
  memset(work->statistics, 0, sizeof work->statistics);
  const int end = laneStart(job->rows, lane + 1), lines = padded(layerAt(work, net, net->count - 1)->outputs);
  for (int first = laneStart(job->rows, lane); first < end;) {
    const int rows = blockRows(work, job, net, first, end);
    const Block outputs = actorForward(work, job, net, first, rows, 1);
    fetchRows(work, job, job->obs, layerAt(work, net, 0)->inputs, first + rows, least(end, first + rows + BLOCK), 1);
    memset(SCRATCH(net->deltaA), 0, (size_t)outputs.stride * lines * 4);
    for (int i = 0, item = 0; i < rows; i += 4) item += policyRows(work, job, net, outputs.stride, first, i, rows, item);
    actorBackward(work, net, rows, outputs, gradient);
    first += rows;
  }
  double *to = (double *)(work->memory + job->statistics) + lane * STATISTICS;
  for (int i = 0; i < 8; i++) to[i] = sum2(work->statistics[i]);
}

// Gradient of the loss by the lane's rows, critic only. Its part of a lane comes after the actor's.
static void criticLane(Work *work, const Job *job, const Net *net, int lane) {
  float *gradient = FLOATS(job->lanes + (size_t)lane * job->laneBytes) + netLaneFloats(work, (Net *)(work->memory + job->actor));
  memset(gradient, 0, netLaneFloats(work, net) * 4);
  const int end = laneStart(job->rows, lane + 1), lines = padded(layerAt(work, net, net->count - 1)->outputs);
  double loss = 0;
  for (int first = laneStart(job->rows, lane); first < end; first += BLOCK) {
    const Block block = wholeRows(least(end - first, BLOCK));
    criticForward(work, job, net, first, block);
    fetchRows(work, job, job->state, layerAt(work, net, 0)->inputs, first + BLOCK, least(end, first + 2 * BLOCK), 0);
    float *delta = SCRATCH(net->deltaA);
    memset(delta, 0, (size_t)block.stride * lines * 4);
    for (int i = 0; i < block.rows; i++) {
      const int row = rowNumber(work, job, first + i);
      const float weight = job->weight ? FLOATS(job->weight)[row] : 1;
      const float value = *cell(SCRATCH(net->output), block.stride, i, 0), target = FLOATS(job->returns)[row];
      float rowLoss = valueLoss(job, value - target), slope = valueSlope(job, value - target);
      if (job->valueClip >= 0) {
        const float old = FLOATS(job->oldValue)[row];
        const float near = old + min32(max32(value - old, -job->valueClip), job->valueClip);
        const float nearLoss = valueLoss(job, near - target);
        if (nearLoss > rowLoss) {
          rowLoss = nearLoss;
          // The clipped value is a constant; inside the bounds it is the value itself, up to a rounding.
          if (fabsf(value - old) > job->valueClip) slope = 0;
        }
      }
      loss += (double)weight * (double)rowLoss;
      *cell(delta, block.stride, i, 0) = job->valueCoefficient * slope * (weight * job->inverseWeight);
    }
    backwardFrom(work, net, block, gradient);
  }
  ((double *)(work->memory + job->statistics))[lane * STATISTICS + 8] = loss;
}
