// Packing, the sum of the lanes' gradients, and Adam; kernels/assembly/adam.ts. Parameters, gradients and moments keep the layout that the
// rest of the program knows, [outputs / 4][inputs][4]; only lanes and packed weights lie in panels of `W`.
#pragma once
#include "network.h"

static void packLayer(const Work *work, const Layer *layer) {
  const float *weight = FLOATS(layer->weight);
  const int inputs = layer->inputs, inputs4 = layer->inputs4, outputs = layer->outputs, outputs4 = layer->outputs4;
  float *forward = forwardWeights(work, layer);
  for (int output = 0; output < padded(outputs); output += 4) {
    float *to = forward + (size_t)(output / W) * inputs * W + output % W;
    const float *from = weight + (size_t)output * inputs4;
    for (int input = 0; input < inputs; input++) store4(to + (size_t)input * W, output < outputs4 ? load4(from + input * 4) : splat4(0));
  }
  if (!layer->bias) return;
  float *bias = packedBias(work, layer);
  memset(bias, 0, (size_t)padded(outputs) * 4);
  memcpy(bias, FLOATS(layer->bias), (size_t)outputs * 4);
  // The way back: [inputs / W][outputs][W].
  float *backward = backwardWeights(work, layer);
  for (int input = 0; input < padded(inputs); input += 4) {
    float *to = backward + (size_t)(input / W) * outputs * W + input % W;
    for (int output = 0; output < outputs; output += 4, to += 4 * W) {
      const int count = least(4, outputs - output);
      if (input >= inputs4) {
        for (int o = 0; o < count; o++) store4(to + o * W, splat4(0));
        continue;
      }
      const float *from = weight + (size_t)output * inputs4 + input * 4;
      for (int o = 0; o < count; o++) store4(to + o * W, (v4){from[o], from[4 + o], from[8 + o], from[12 + o]});
    }
  }
}

static void packNet(const Work *work, const Net *net) {
  for (int index = 0; index < net->count; index++) packLayer(work, layerAt(work, net, index));
  if (net->pointer) packLayer(work, (Layer *)(work->memory + net->features));
}

ALWAYS d2 widenSquares(d2 sums, v4 v) {
  const d2 low = promote(v), high = promote(upper4(v));
  return (sums + low * low) + high * high;
}

// One quad of the sum: lanes are added in their order, four or eight of them.
ALWAYS v4 sumLanes(v4 value, const float *lane, size_t laneStep, int count) {
  for (int i = 0; i < count; i++, lane += laneStep) value = value + load4(lane);
  return value;
}

// Sums `inputs` columns of weights, or a bias, where the lanes hold [outputs / W][inputs][W]; returns the squared norm.
static double reduceTensor(const float *lanes, size_t laneStep, int count, int inputs, int inputs4, int outputs4, float *gradient, int add) {
  d2 squares = splat2(0);
  for (int output = 0; output < outputs4; output += 4) {
    const float *from = lanes + (size_t)(output / W) * inputs * W + output % W;
    for (int input = 0; input < inputs4; input++, gradient += 4, from += W) {
      const v4 start = add ? load4(gradient) : splat4(0);
      const v4 value = input < inputs ? sumLanes(start, from, laneStep, count) : start;
      store4(gradient, value);
      squares = widenSquares(squares, value);
    }
  }
  return sum2(squares);
}

// Sums the lanes into `gradient` (adding to it where `add`), and notes each tensor's squared norm.
static void reduceNet(const Work *work, const Net *net, int count, const float *lanes, size_t laneStep, float *gradient, int add) {
  const Tensor *tensor = (Tensor *)(work->memory + net->tensors);
#define REDUCE(offset, inputs, inputs4, outputs4) \
  { \
    float *to = gradient + (tensor->parameters - net->parameters) / 4; \
    *(double *)(work->memory + tensor->results) = reduceTensor(lanes + (offset), laneStep, count, inputs, inputs4, outputs4, to, add); \
    tensor++; \
  }
  for (int index = 0; index < net->count; index++) {
    const Layer *layer = layerAt(work, net, index);
    const size_t offset = laneOffset(work, net, index);
    REDUCE(offset, layer->inputs, layer->inputs4, layer->outputs4)
    REDUCE(offset + laneWeights(layer), 1, 1, layer->outputs4)
    if (index == 0 && net->pointer) {
      const Layer *features = (Layer *)(work->memory + net->features);
      REDUCE(laneOffset(work, net, net->count), features->inputs, features->inputs4, features->outputs4)
    }
  }
#undef REDUCE
}

// A last step of four lanes would leave a wide vector half empty: tensors are in whole fours, so the rest goes by four.
static void adamTensor(const Work *work, const Job *job, const Tensor *tensor) {
  const size_t offset = tensor->parameters - job->parameters;
  float *p = FLOATS(tensor->parameters), *g = FLOATS(job->gradient + offset);
  float *m = FLOATS(job->firstMoment + offset), *v = FLOATS(job->secondMoment + offset);
  const float step = -job->stepSize[tensor->role], decay = job->decay[tensor->role], scale = job->scale[tensor->role];
  int i = 0;
  d2 changes = splat2(0), changeSquares = splat2(0), norms = splat2(0);
  i4 nonzero = {0, 0, 0, 0};
#define STEP(vector, load, store, splat, madd, root) \
  const vector parameter = load(p + i), raw = load(g + i); \
  const vector gradient = madd(splat(decay), parameter, raw * splat(scale)); \
  const vector first = madd(splat(job->beta1), load(m + i), splat(job->oneLessBeta1) * gradient); \
  const vector second = madd(splat(job->beta2), load(v + i), splat(job->oneLessBeta2) * (gradient * gradient)); \
  store(m + i, first); \
  store(v + i, second); \
  const vector ratio = first / madd(root(second), splat(job->inverseRootCorrection), splat(job->eps)); \
  const vector after = madd(splat(step), ratio, parameter); \
  store(p + i, after);
  if (!job->measure) {
    for (; i + W <= tensor->floats; i += W) {
      STEP(vw, load, store, splat, madd, vsqrt)
    }
    for (; i < tensor->floats; i += 4) {
      STEP(v4, load4, store4, splat4, madd4, sqrt4)
    }
    return;
  }
  for (; i < tensor->floats; i += 4) {
    STEP(v4, load4, store4, splat4, madd4, sqrt4)
    nonzero -= (i4)(raw != splat4(0));
    const v4 change = after - parameter;
    changes = widen(changes, abs4(change));
    changeSquares = widenSquares(changeSquares, change);
    norms = widenSquares(norms, after);
  }
#undef STEP
  double *results = (double *)(work->memory + tensor->results);
  results[1] = nonzero[0] + nonzero[1] + nonzero[2] + nonzero[3];
  results[2] = sum2(changes);
  results[3] = sum2(changeSquares);
  results[4] = sum2(norms);
}

// One step of every tensor of a network, and its weights packed anew.
static void adamNet(const Work *work, const Job *job, const Net *net) {
  const Tensor *tensors = (Tensor *)(work->memory + net->tensors);
  for (int t = 0; t < net->tensorCount; t++) adamTensor(work, job, tensors + t);
  packNet(work, net);
}
