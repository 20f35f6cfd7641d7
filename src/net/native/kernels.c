// The kernels of kernels/assembly/index.ts for one width of vectors. Compiled once for each: VARIANT is its name, W the floats of a vector.
#include "adam.h"
#include "learn.h"
#include "policy.h"

ALWAYS Work workOf(char *memory, address scratch) {
  Work work;
  work.memory = memory;
  work.scratch = memory + scratch;
  work.listed = work.items = 0;
  return work;
}

// What a block keeps for its way back: activations, and in their last bytes whether its inputs are a list, which then lies where they would.
typedef struct {
  char *activations;
  int32_t *listed;
  List list;
} Kept;

static Kept keptOf(const Work *work, const Pass *pass, const Layer *layer, int number) {
  char *activations = work->memory + pass->activations + (size_t)number * pass->activationBytes;
  uint32_t *starts = (uint32_t *)(activations + layer->input);
  return (Kept){activations, (int32_t *)(activations + pass->activationBytes) - 1, {(Entry *)(starts + BLOCK + 2), starts}};
}

// Forward of one block of a network by itself.
static void passForward(const Work *work, const Pass *pass, int number) {
  const Net *net = (Net *)(work->memory + pass->net);
  const Layer *layer = layerAt(work, net, 0), *last = layerAt(work, net, net->count - 1);
  const int first = number * BLOCK;
  const Block block = wholeRows(least(pass->rows - first, BLOCK));
  const Kept kept = keptOf(work, pass, layer, number);
  *kept.listed = listInputs(work, kept.list, pass->x, layer->inputs, 0, first, block.rows);
  if (*kept.listed) forwardListed(work, net, kept.list, kept.activations, block);
  else {
    gather(work, pass->x, layer->inputs, 0, first, block, (float *)(kept.activations + layer->input));
    forwardBlock(work, net, 0, kept.activations, block);
  }
  float *y = FLOATS(pass->y) + (size_t)first * last->outputs;
  scatterRows((float *)(kept.activations + net->output), last->outputs, block, y);
  if (pass->shares) shares(y, INTS(pass->legal) + first, FLOATS(pass->shares) + (size_t)first * pass->stride, block.rows, last->outputs, pass->stride);
}

// Backward of one block, which adds to a lane's gradients.
static void passBack(const Work *work, const Pass *pass, int number, float *gradient) {
  const Net *net = (Net *)(work->memory + pass->net);
  const Layer *layer = layerAt(work, net, 0), *last = layerAt(work, net, net->count - 1);
  const int first = number * BLOCK;
  const Block block = wholeRows(least(pass->rows - first, BLOCK));
  const Kept kept = keptOf(work, pass, layer, number);
  float *a = SCRATCH(net->deltaA), *b = SCRATCH(net->deltaB), *delta;
  gather(work, pass->gradOut, last->outputs, 0, first, block, a);
  if (*kept.listed) {
    delta = backwardListed(work, net, kept.list, kept.activations, block, gradient);
    if (pass->gradIn) {
      float *other = delta == a ? b : a;
      multiply(delta, layer->outputs, block.stride, backwardWeights(work, layer), 0, 0, 0, other, padded(layer->inputs), block.stride);
      delta = other;
    }
  } else delta = backwardBlock(work, net, 0, kept.activations, block, gradient, pass->gradIn != 0);
  if (pass->gradIn) scatterRows(delta, layer->inputs, block, FLOATS(pass->gradIn) + (size_t)first * layer->inputs);
}

// One lane's blocks back, or forward, through their loss and back; the lane's gradients start from zero.
static void passLane(const Work *work, const Pass *pass, int lane, int learns) {
  const Net *net = (Net *)(work->memory + pass->net);
  const int columns = layerAt(work, net, net->count - 1)->outputs;
  float *gradient = FLOATS(pass->lanes + (size_t)lane * pass->laneBytes);
  memset(gradient, 0, netLaneFloats(work, net) * 4);
  const int blocks = (pass->rows + BLOCK - 1) / BLOCK;
  double loss = 0;
  for (int number = (blocks * lane) >> 2; number < (blocks * (lane + 1)) >> 2; number++) {
    if (learns) {
      const int first = number * BLOCK;
      passForward(work, pass, number);
      loss += lossOf(work, pass, columns, first, least(pass->rows - first, BLOCK));
    }
    passBack(work, pass, number, gradient);
  }
  if (learns) ((double *)(work->memory + pass->losses))[lane] = loss;
}

static void copyRows(const Work *work, const Copy *copy, int number) {
  const size_t bytes = (size_t)copy->bytes;
  const int end = least(copy->rows, (number + 1) * COPY_ROWS);
  for (int i = number * COPY_ROWS; i < end; i++)
    memcpy(BYTES(copy->into) + i * bytes, BYTES(copy->from) + INTS(copy->list)[i] * bytes, bytes);
}

static void task(char *memory, address at, address scratch) {
  Work own = workOf(memory, scratch), *work = &own;
  const Task *wanted = (Task *)(memory + at);
  const int number = wanted->number;
  if (wanted->kind == 5) return passForward(work, (Pass *)(memory + wanted->job), number);
  if (wanted->kind == 6 || wanted->kind == 9) return passLane(work, (Pass *)(memory + wanted->job), number, wanted->kind == 9);
  if (wanted->kind == 8) return copyRows(work, (Copy *)(memory + wanted->job), number);
  const Job *job = (Job *)(memory + wanted->job);
  const Net *actor = (Net *)(memory + job->actor), *critic = (Net *)(memory + job->critic);
  const int first = number * FORWARD_ROWS, end = least(job->rows, first + FORWARD_ROWS);
  if (wanted->kind == 0) actorRows(work, job, actor, first, end);
  else if (wanted->kind == 7) criticRows(work, job, critic, first, end);
  else if (wanted->kind == 1) actorLane(work, job, actor, number);
  else if (wanted->kind == 2) criticLane(work, job, critic, number);
  else if (wanted->kind == 3) {
    const Net *net = number ? critic : actor;
    const float *lanes = FLOATS(job->lanes) + (number ? netLaneFloats(work, actor) : 0);
    reduceNet(work, net, laneCount(job->rows), lanes, job->laneBytes / 4, FLOATS(job->gradient + (net->parameters - job->parameters)), 0);
  } else if (wanted->kind == 4) adamNet(work, job, number ? critic : actor);
}

// The lanes' gradients of a backward pass, added to those kept where there are any.
static void passReduce(char *memory, address at) {
  const Work own = workOf(memory, 0), *work = &own;
  const Pass *pass = (Pass *)(memory + at);
  reduceNet(work, (Net *)(memory + pass->net), LANES, FLOATS(pass->lanes), pass->laneBytes / 4, FLOATS(pass->gradient), pass->add);
}

static void adamStep(char *memory, address job, address net) {
  const Work own = workOf(memory, 0);
  adamNet(&own, (Job *)(memory + job), (Net *)(memory + net));
}

static void pack(char *memory, address net) {
  const Work own = workOf(memory, 0);
  packNet(&own, (Net *)(memory + net));
}

static void exponentials(char *memory, address at, uint32_t bytes) {
  for (float *p = (float *)(memory + at), *end = p + bytes / 4; p < end; p += 4) store4(p, exp4(load4(p)));
}

static void logarithms(char *memory, address at, uint32_t bytes) {
  for (float *p = (float *)(memory + at), *end = p + bytes / 4; p < end; p += 4) store4(p, log4(load4(p)));
}

static void tangents(char *memory, address at, uint32_t bytes) { activate(1, (float *)(memory + at), W, (int)(bytes / 4 / W)); }

#define JOIN(a, b) a##b
#define NAMED(variant) JOIN(kernels_, variant)
#define TEXT(variant) #variant
#define TEXT_OF(variant) TEXT(variant)
const Kernels NAMED(VARIANT) = {TEXT_OF(VARIANT), W, task, passReduce, adamStep, pack, exponentials, logarithms, tangents};
