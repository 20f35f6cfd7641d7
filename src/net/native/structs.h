// The structures of kernels/assembly/structs.ts: every field is four bytes, and an address is a distance from the start of the memory.
#pragma once
#include <stdint.h>

#define BLOCK 64
#define ITEMS 128
#define LANES 4
#define SPARSITY 4
#define MANY_ROWS 2048
#define FORWARD_ROWS 32
#define COPY_ROWS 512
#define STATISTICS 9

typedef uint32_t address;

typedef struct {
  int32_t inputs, outputs, inputs4, outputs4;
  // `packed` holds the weights a second time: see pack in adam.h.
  address weight, bias, packed, input;
  int32_t activation;
} Layer;

typedef struct {
  address layers;
  int32_t count, pointer;
  address features, parameters;
  int32_t floats;
  address tensors;
  int32_t tensorCount;
  address output, deltaA, deltaB, panel, rowPart, rowPanel, local, localProbability, rowFigures, rowOfItem, entries, starts;
} Net;

typedef struct {
  address parameters;
  int32_t floats, role;
  address results;
} Tensor;

typedef struct {
  address actor, critic;
  int32_t rows;
  address order, place, obs, state, offsets, subset, legal, features, action, oldLogp, advantage, returns, oldValue, weight, uniforms;
  address outAction, outLogp, outEntropy, outValue, outLogits, outOffsets;
  float inverseTemperature, clip, valueCoefficient, entropyCoefficient;
  int32_t huber;
  float huberDelta, valueClip, advantageScale, inverseWeight;
  address parameters, gradient, firstMoment, secondMoment, lanes;
  int32_t laneBytes;
  address statistics;
  float beta1, beta2, oneLessBeta1, oneLessBeta2, eps, inverseRootCorrection;
  float stepSize[3], decay[3], scale[3];
  int32_t measure;
  // Set where a candidate's id is not one of the network's outputs; the figures are then of no use.
  int32_t wrong;
} Job;

typedef struct {
  address net;
  int32_t rows;
  address x, y, activations;
  int32_t activationBytes;
  address gradOut, gradIn, lanes;
  int32_t laneBytes;
  address gradient;
  int32_t add, loss;
  address targets, legal;
  float share;
  address losses, shares;
  int32_t stride;
} Pass;

// Rows to be copied: row i of `into` becomes row list[i] of `from`.
typedef struct {
  address into, from, list;
  int32_t rows, bytes;
} Copy;

typedef struct {
  int32_t kind;
  address job;
  int32_t number, unused;
} Task;

// What one variant of the kernels offers; `memory` is the start of the memory.
typedef struct {
  const char *name;
  int width;
  void (*task)(char *memory, address task, address scratch);
  void (*passReduce)(char *memory, address pass);
  void (*adamStep)(char *memory, address job, address net);
  void (*pack)(char *memory, address net);
  void (*exponentials)(char *memory, address at, uint32_t bytes);
  void (*logarithms)(char *memory, address at, uint32_t bytes);
  void (*tangents)(char *memory, address at, uint32_t bytes);
} Kernels;
