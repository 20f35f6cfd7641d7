// The distribution over a row's candidates, and losses of rows with their gradients; kernels/assembly/distribution.ts and loss.ts, four rows at a time.
#pragma once
#include "network.h"

ALWAYS int rowNumber(const Work *work, const Job *job, int at) { return rowAt(work, job->order, at); }
// The place of a row's figures among the outputs.
ALWAYS int placeOf(const Work *work, const Job *job, int at) { return rowAt(work, job->place, at); }

// On entry z[candidate][row] holds logits / temperature, minus infinity where a candidate is illegal or not there. On return it holds their
// distances to the row's largest, and `e` the exponentials.
static void distribution(Work *work, float *z, float *e, int count) {
  const v4 none = splat4(-INFINITY);
  v4 top = none;
  for (int i = 0; i < count; i++) top = pmax4(top, load4(z + 4 * i));
  v4 total = splat4(0), products = total;
  for (int i = 0; i < count; i++) {
    const v4 value = load4(z + 4 * i);
    const i4 mask = (i4)(value != none);
    const v4 distance = value - top;
    const v4 exponential = both4(exp4(distance), mask);
    store4(z + 4 * i, choose4(distance, value, mask));
    store4(e + 4 * i, exponential);
    total = total + exponential;
    products = madd4(exponential, both4(distance, mask), products);
  }
  const i4 empty = (i4)(total == splat4(0));
  work->sums = total;
  work->logSums = except4(log4(total), empty);
  work->entropies = except4(work->logSums - products / total, empty);
}

// The first candidate of one row at which the running sum passes u of the whole; never one of probability 0. `e` is the row's first.
static int sample(const float *e, int count, float u) {
  double total = 0;
  for (int i = 0; i < count; i++) total += e[4 * i];
  const double target = (double)u * total;
  double running = 0;
  int chosen = 0;
  for (int i = 0; i < count; i++) {
    const float share = e[4 * i];
    if (!(share > 0)) continue;
    chosen = i;
    running += share;
    if (running > target) return i;
  }
  return chosen;
}

// Distance of one row's candidate from the largest; minus infinity for an index that is none of the row's.
ALWAYS float distanceOf(const float *z, int count, int action) { return (uint32_t)action < (uint32_t)count ? z[4 * action] : -INFINITY; }

#define MINUS_INFINITY ((int32_t)0xff800000)

// Gathers the logits of the block's rows [i, i + 4) in the order of their candidates, one row in each lane; `item` is the place in the
// block of the first row's first candidate. Returns the most candidates of one of the rows.
static int gatherLogits(const Work *work, const Job *job, const Net *net, int stride, int first, int i, int rows, int item) {
  const float *base = SCRATCH(net->output);
  float *z = SCRATCH(net->local);
  const int32_t *offsets = INTS(job->offsets), *subset = INTS(job->subset);
  const uint8_t *legal = BYTES(job->legal);
  const size_t step = (size_t)stride * W;
  const uint32_t outputs = (uint32_t)layerAt(work, net, net->count - 1)->outputs;
  uint32_t highest = 0;
  const int end = least(i + 4, rows);
  int widest = 0;
  for (int r = i; r < end; r++) {
    const int row = rowNumber(work, job, first + r);
    widest = most(widest, offsets[row + 1] - offsets[row]);
  }
  for (int j = 0; j < widest; j++) store4(z + 4 * j, splat4(-INFINITY));
  for (int r = i; r < end; r++) {
    const int row = rowNumber(work, job, first + r);
    const int start = offsets[row], count = offsets[row + 1] - start;
    float *keep = job->outLogits ? FLOATS(job->outLogits) + INTS(job->outOffsets)[placeOf(work, job, first + r)] : 0;
    const float *line = base + (size_t)(net->pointer ? item : r) * W;
    int32_t *to = (int32_t *)z + (r - i);
    for (int j = 0; j < count; j++, to += 4) {
      const uint32_t id = net->pointer ? 0 : (uint32_t)subset[start + j], column = id < outputs ? id : 0;
      highest = id > highest ? id : highest;
      const float logit = line[(column / W) * step + column % W];
      if (net->pointer) line += W;
      if (keep) keep[j] = logit;
      const float tempered = logit * job->inverseTemperature;
      // Chosen by bits: nobody can foresee which candidates are legal, and a branch would have to.
      const int32_t possible = -(int32_t)(legal[start + j] != 0);
      int32_t bits;
      memcpy(&bits, &tempered, 4);
      *to = (bits & possible) | (MINUS_INFINITY & ~possible);
    }
    item += count;
  }
  if (highest >= outputs) ((Job *)job)->wrong = 1;
  return widest;
}

// Adds two rows' figures, the low lanes of each vector.
static void addStatistics(Work *work, v4 weight, v4 gain, v4 rowEntropy, v4 logRatio, v4 ratio, i4 outside) {
  d2 *sums = work->statistics;
  const d2 w = promote(weight), d = promote(logRatio), one = splat2(1), half = splat2(0.5);
  const d2 excess = promote(ratio) - one, wd = w * d;
  sums[0] -= w * promote(gain);
  sums[1] += w * promote(rowEntropy);
  sums[2] -= wd;
  sums[3] += half * (wd * d);
  // The ratio is rounded to single precision, of which a small log-ratio leaves nothing in ratio - 1 - d; there a series stands for it.
  d2 series = splat2(1.0 / 720) + d * splat2(1.0 / 5040);
  series = splat2(1.0 / 120) + d * series;
  series = splat2(1.0 / 24) + d * series;
  series = splat2(1.0 / 6) + d * series;
  series = (d * d) * (half + d * series);
  const l2 small = (l2)((d2){fabs(d[0]), fabs(d[1])} < splat2(0.0625));
  const d2 exact = excess - d;
  sums[4] += w * (d2)(((l2)series & small) | ((l2)exact & ~small));
  sums[5] += promote(both4(weight, outside));
  const d2 we = w * excess;
  sums[6] += we;
  sums[7] += we * excess;
}

ALWAYS i4 upperMask(i4 a) { return (i4){a[2], a[3], a[2], a[3]}; }

// Loss of the block's rows [i, i + 4), and its gradient by their logits, added to `deltaA`. Rows from `rows` on are not there and weigh
// nothing. Returns the number of the rows' candidates.
static int policyRows(Work *work, const Job *job, const Net *net, int stride, int first, int i, int rows, int item) {
  float *z = SCRATCH(net->local), *e = SCRATCH(net->localProbability);
  const int32_t *offsets = INTS(job->offsets), *actions = INTS(job->action), *subset = INTS(job->subset);
  const int end = least(i + 4, rows);
  const int widest = gatherLogits(work, job, net, stride, first, i, rows, item);
  distribution(work, z, e, widest);
  float distances[4] = {0}, oldLogps[4] = {0}, advantages[4] = {0}, weights[4] = {0};
  for (int r = i; r < end; r++) {
    const int row = rowNumber(work, job, first + r), lane = r - i;
    distances[lane] = distanceOf(z + lane, offsets[row + 1] - offsets[row], actions[row]);
    oldLogps[lane] = FLOATS(job->oldLogp)[row];
    advantages[lane] = FLOATS(job->advantage)[row];
    weights[lane] = job->weight ? FLOATS(job->weight)[row] : 1;
  }

  const v4 logp = load4(distances) - work->logSums;
  const v4 weight = load4(weights);
  const v4 advantage = load4(advantages) * splat4(job->advantageScale);
  const v4 logRatio = logp - load4(oldLogps);
  const v4 ratio = exp4(logRatio);
  const v4 free = ratio * advantage;
  const v4 within = pmin4(pmax4(ratio, splat4(1 - job->clip)), splat4(1 + job->clip));
  const v4 bounded = within * advantage;
  const i4 held = (i4)(free > bounded);
  const v4 gain = choose4(bounded, free, held);
  const i4 outside = (i4)(abs4(ratio - splat4(1)) > splat4(job->clip));
  addStatistics(work, weight, gain, work->entropies, logRatio, ratio, outside);
  addStatistics(
      work, upper4(weight), upper4(gain), upper4(work->entropies), upper4(logRatio), upper4(ratio), upperMask(outside));

  const v4 share = weight * splat4(job->inverseWeight * job->inverseTemperature);
  const v4 byLogp = except4(-free * share, held);
  const v4 byEntropy = splat4(job->entropyCoefficient) * share;
  const v4 inverse = splat4(1) / work->sums;
  const v4 none = splat4(-INFINITY);
  const v4 shift = work->entropies - work->logSums;
  for (int j = 0; j < widest; j++) {
    const v4 distance = load4(z + 4 * j);
    const v4 probability = load4(e + 4 * j) * inverse;
    const v4 slope = byEntropy * (distance + shift) - byLogp;
    // Minus infinity stands where nothing may be chosen.
    store4(e + 4 * j, both4(probability * slope, (i4)(distance != none)));
  }

  float *delta = SCRATCH(net->deltaA);
  const uint32_t outputs = (uint32_t)layerAt(work, net, net->count - 1)->outputs;
  int items = item;
  for (int r = i; r < end; r++) {
    const int row = rowNumber(work, job, first + r), lane = r - i;
    const int start = offsets[row], count = offsets[row + 1] - start, action = actions[row];
    const int place = placeOf(work, job, first + r);
    FLOATS(job->outLogp)[place] = logp[lane];
    FLOATS(job->outEntropy)[place] = work->entropies[lane];
    if ((uint32_t)action < (uint32_t)count && BYTES(job->legal)[start + action]) e[4 * action + lane] += byLogp[lane];
    for (int j = 0; j < count; j++) {
      const uint32_t id = net->pointer ? 0 : (uint32_t)subset[start + j];
      float *to = cell(delta, stride, net->pointer ? items + j : r, id < outputs ? (int)id : 0);
      *to += e[4 * j + lane];
    }
    items += count;
  }
  return items - item;
}

// As WebAssembly has them: NaN if either is, and -0 below +0.
ALWAYS float min32(float a, float b) { return a != a ? a : b != b ? b : a < b || (a == b && signbit(a)) ? a : b; }
ALWAYS float max32(float a, float b) { return a != a ? a : b != b ? b : a > b || (a == b && !signbit(a)) ? a : b; }

ALWAYS float valueLoss(const Job *job, float error) {
  if (!job->huber) return error * error;
  const float size = fabsf(error);
  return size <= job->huberDelta ? 0.5f * error * error : job->huberDelta * (size - 0.5f * job->huberDelta);
}

ALWAYS float valueSlope(const Job *job, float error) {
  if (!job->huber) return 2 * error;
  return min32(max32(error, -job->huberDelta), job->huberDelta);
}
