/** Rows of decisions through actor and critic: forward for rollouts and replays, and one lane of a PPO update. */
import { distribution, logProbability, logSum, sample, sum } from './distribution';
import { accumulateBias, accumulateWeights, multiply } from './gemm';
import { gather, gatherSums, spread, toColumns } from './layout';
import { activate, backwardBlock, forwardBlock, layerAt, outputOf } from './network';
import { exp1 } from './simd';
import { BLOCK, ITEMS, Job, LANES, Layer, Net, STATISTICS } from './structs';

@inline
function rowNumber(job: Job, at: i32): i32 {
  return job.order ? load<i32>(job.order + (<usize>at << 2)) : at;
}

@inline
function floatAt(column: usize, row: i32): f32 {
  return load<f32>(column + (<usize>row << 2));
}

@inline
function intAt(column: usize, row: i32): i32 {
  return load<i32>(column + (<usize>row << 2));
}

/** How many rows from `first` make the next block: up to BLOCK, and with a pointer head up to ITEMS candidates, but at least one. */
function blockRows(job: Job, first: i32, end: i32): i32 {
  const most = min(end - first, BLOCK);
  if (!job.actor.pointer) return most;
  let items = 0;
  for (let i = 0; i < most; i++) {
    const row = rowNumber(job, first + i);
    items += intAt(job.offsets, row + 1) - intAt(job.offsets, row);
    if (items > ITEMS) return max(i, 1);
  }
  return most;
}

let items: i32 = 0;

/** The actor's outputs for a block: global logits by row, or one score for each candidate of the block in turn (`items` of them). */
function actorForward(job: Job, first: i32, rows: i32, scratch: usize): void {
  const net = job.actor;
  const layer = layerAt(net, 0);
  gather(job.obs, layer.inputs, layer.inputs4, job.order, first, rows, scratch + layer.input);
  if (!net.pointer) {
    forwardBlock(net, 0, scratch, rows);
    return;
  }
  const features = changetype<Layer>(net.features);
  const rowOfItem = scratch + net.rowOfItem;
  const f = scratch + features.input;
  items = 0;
  for (let i = 0; i < rows; i++) {
    const row = rowNumber(job, first + i);
    for (let at = intAt(job.offsets, row), end = intAt(job.offsets, row + 1); at < end; at++) {
      store<i32>(rowOfItem + (<usize>items << 2), i);
      const source = job.features + (<usize>(at * features.inputs) << 2);
      const to = f + <usize>(items >> 3) * (<usize>features.inputs4 << 5) + (<usize>(items & 7) << 2);
      let k = 0;
      for (; k < features.inputs; k++) store<f32>(to + (<usize>k << 5), load<f32>(source + (<usize>k << 2)));
      for (; k < features.inputs4; k++) store<f32>(to + (<usize>k << 5), 0);
      items++;
    }
  }
  const whole = (items + 7) & ~7;
  for (let item = items; item < whole; item++) {
    store<i32>(rowOfItem + (<usize>item << 2), 0);
    const to = f + <usize>(item >> 3) * (<usize>features.inputs4 << 5) + (<usize>(item & 7) << 2);
    for (let k = 0; k < features.inputs4; k++) store<f32>(to + (<usize>k << 5), 0);
  }
  // The observation's part of the first layer is made once per row, then each candidate adds its own.
  const part = scratch + net.rowPart;
  const columns = scratch + net.rowPanel;
  const panels = (rows + 7) >> 3;
  multiply(scratch + layer.input, layer.inputs, layer.inputs4, layer.weight, layer.bias, false, part, layer.outputs4, rows);
  toColumns(part, layer.outputs4, panels, columns);
  const y = outputOf(net, 0, scratch);
  spread(columns, layer.outputs4, panels, rowOfItem, whole, y);
  multiply(f, features.inputs, features.inputs4, features.weight, 0, true, y, layer.outputs4, items);
  activate(layer.activation, y, layer.outputs4, items);
  forwardBlock(net, 1, scratch, items);
}

function actorBackward(job: Job, rows: i32, scratch: usize, lane: usize): void {
  const net = job.actor;
  if (!net.pointer) {
    backwardBlock(net, 0, scratch, scratch, rows, lane, false);
    return;
  }
  const delta = backwardBlock(net, 1, scratch, scratch, items, lane, false);
  const layer = layerAt(net, 0);
  const features = changetype<Layer>(net.features);
  const columns = scratch + net.panel;
  const rowColumns = scratch + net.rowPanel;
  const itemPanels = (items + 7) >> 3;
  const rowPanels = (rows + 7) >> 3;
  toColumns(delta, layer.outputs4, itemPanels, columns);
  const inputColumns = scratch + net.inputPanel;
  toColumns(scratch + features.input, features.inputs4, itemPanels, inputColumns);
  accumulateWeights(
    inputColumns, features.inputs4, columns, layer.outputs4, itemPanels, lane + (features.weight - net.parameters),
  );
  gatherSums(columns, layer.outputs4, itemPanels, scratch + net.rowOfItem, items, rowPanels, rowColumns);
  toColumns(scratch + layer.input, layer.inputs4, rowPanels, inputColumns);
  accumulateWeights(
    inputColumns, layer.inputs4, rowColumns, layer.outputs4, rowPanels, lane + (layer.weight - net.parameters),
  );
  accumulateBias(rowColumns, layer.outputs4, rowPanels, lane + (layer.bias - net.parameters));
}

/** Address of a block's output: row-wise for the global logits, item-wise for scores. */
@inline
function outputAddress(base: usize, lines: i32, row: i32, line: i32): usize {
  return base + <usize>((row >> 3) * lines + line) * 32 + (<usize>(row & 7) << 2);
}

/** Gathers row i's local logits in the order of its candidates; `item` is its first candidate's place in the block. */
function localLogits(job: Job, scratch: usize, i: i32, item: i32, start: i32, count: i32): void {
  const net = job.actor;
  const lines = layerAt(net, net.count - 1).outputs4;
  const base = scratch + net.output;
  const z = scratch + net.local;
  if (net.pointer) {
    for (let j = 0; j < count; j++) store<f32>(z + (<usize>j << 2), load<f32>(outputAddress(base, lines, item + j, 0)));
  } else {
    for (let j = 0; j < count; j++) {
      store<f32>(z + (<usize>j << 2), load<f32>(outputAddress(base, lines, i, intAt(job.subset, start + j))));
    }
  }
}

function keepLogits(job: Job, z: usize, at: i32, count: i32): void {
  if (!job.outLogits) return;
  memory.copy(job.outLogits + (<usize>intAt(job.outOffsets, at) << 2), z, <usize>count << 2);
}

/** Rows [first, end): distributions and values, and actions where there are uniforms. */
export function forwardRows(job: Job, first: i32, end: i32, scratch: usize): void {
  const actor = job.actor;
  const z = scratch + actor.local;
  const e = scratch + actor.localProbability;
  while (first < end) {
    const rows = blockRows(job, first, end);
    if (job.outLogp) {
      actorForward(job, first, rows, scratch);
      let item = 0;
      for (let i = 0; i < rows; i++) {
        const at = first + i;
        const row = rowNumber(job, at);
        const start = intAt(job.offsets, row);
        const count = intAt(job.offsets, row + 1) - start;
        localLogits(job, scratch, i, item, start, count);
        keepLogits(job, z, at, count);
        const entropy = distribution(z, e, job.legal + <usize>start, count, job.inverseTemperature);
        let action: i32;
        if (job.uniforms) {
          action = sample(e, count, floatAt(job.uniforms, at));
          store<i32>(job.outAction + (<usize>at << 2), action);
        } else action = intAt(job.action, row);
        store<f32>(job.outLogp + (<usize>at << 2), logProbability(z, count, action));
        store<f32>(job.outEntropy + (<usize>at << 2), entropy);
        item += count;
      }
    }
    if (job.outValue) criticForward(job, first, rows, scratch);
    first += rows;
  }
}

function criticForward(job: Job, first: i32, rows: i32, scratch: usize): void {
  const net = job.critic;
  const layer = layerAt(net, 0);
  const lines = layerAt(net, net.count - 1).outputs4;
  gather(job.state, layer.inputs, layer.inputs4, job.order, first, rows, scratch + layer.input);
  forwardBlock(net, 0, scratch, rows);
  for (let i = 0; i < rows; i++) {
    store<f32>(job.outValue + (<usize>(first + i) << 2), load<f32>(outputAddress(scratch + net.output, lines, i, 0)));
  }
}

/** The first row of a lane: panels of eight rows are dealt out evenly. */
@inline
export function laneStart(rows: i32, lane: i32): i32 {
  return min(rows, ((((rows + 7) >> 3) * lane) / LANES) << 3);
}

// Sums of one lane.
let policyLoss: f64 = 0;
let entropies: f64 = 0;
let k1: f64 = 0;
let k2: f64 = 0;
let k3: f64 = 0;
let clipped: f64 = 0;
let ratioSum: f64 = 0;
let ratioSquares: f64 = 0;

/** Gradient of the loss by the lane's rows, actor only. */
export function actorLane(job: Job, lane: i32, scratch: usize): void {
  const net = job.actor;
  const gradient = job.lanes + <usize>lane * <usize>job.laneBytes + (net.parameters - job.parameters);
  memory.fill(gradient, 0, <usize>net.floats << 2);
  policyLoss = entropies = k1 = k2 = k3 = clipped = ratioSum = ratioSquares = 0;
  const end = laneStart(job.rows, lane + 1);
  const lines = layerAt(net, net.count - 1).outputs4;
  for (let first = laneStart(job.rows, lane); first < end; ) {
    const rows = blockRows(job, first, end);
    actorForward(job, first, rows, scratch);
    const outputs = net.pointer ? items : rows;
    memory.fill(scratch + net.deltaA, 0, (<usize>((outputs + 7) >> 3) * <usize>lines) << 5);
    let item = 0;
    for (let i = 0; i < rows; i++) item += policyRow(job, scratch, lines, first + i, i, item);
    actorBackward(job, rows, scratch, gradient);
    first += rows;
  }
  const to = job.statistics + <usize>(lane * STATISTICS) * 8;
  store<f64>(to, policyLoss);
  store<f64>(to, entropies, 8);
  store<f64>(to, k1, 16);
  store<f64>(to, k2, 24);
  store<f64>(to, k3, 32);
  store<f64>(to, clipped, 40);
  store<f64>(to, ratioSum, 48);
  store<f64>(to, ratioSquares, 56);
}

/** Loss of one row and its gradient by the row's logits; returns the number of its candidates. */
function policyRow(job: Job, scratch: usize, lines: i32, at: i32, i: i32, item: i32): i32 {
  const net = job.actor;
  const z = scratch + net.local;
  const e = scratch + net.localProbability;
  const row = rowNumber(job, at);
  const start = intAt(job.offsets, row);
  const count = intAt(job.offsets, row + 1) - start;
  localLogits(job, scratch, i, item, start, count);
  keepLogits(job, z, at, count);
  const entropy = distribution(z, e, job.legal + <usize>start, count, job.inverseTemperature);
  const action = intAt(job.action, row);
  const logp = logProbability(z, count, action);
  store<f32>(job.outLogp + (<usize>at << 2), logp);
  store<f32>(job.outEntropy + (<usize>at << 2), entropy);

  const weight = job.weight ? floatAt(job.weight, row) : 1;
  const advantage = floatAt(job.advantage, row) * job.advantageScale;
  const logRatio = logp - floatAt(job.oldLogp, row);
  const ratio = exp1(logRatio);
  const free = ratio * advantage;
  const bounded = min(max(ratio, 1 - job.clip), 1 + job.clip) * advantage;
  const held = free > bounded;
  const w = <f64>weight;
  const d = <f64>logRatio;
  policyLoss -= w * <f64>(held ? bounded : free);
  entropies += w * <f64>entropy;
  k1 -= w * d;
  k2 += w * 0.5 * d * d;
  // r - 1 - log r: by its series where the difference would cancel.
  k3 += w * (abs(d) < 0.0625
    ? d * d * (0.5 + d * (1.0 / 6 + d * (1.0 / 24 + d * (1.0 / 120 + d * (1.0 / 720 + d * (1.0 / 5040))))))
    : <f64>ratio - 1 - d);
  if (abs(ratio - 1) > job.clip) clipped += w;
  const excess = <f64>ratio - 1;
  ratioSum += w * excess;
  ratioSquares += w * excess * excess;

  const share = weight * job.inverseWeight * job.inverseTemperature;
  const byLogp: f32 = held ? 0 : -free * share;
  const byEntropy = job.entropyCoefficient * share;
  const inverse: f32 = 1 / sum;
  const delta = scratch + net.deltaA;
  for (let j = 0; j < count; j++) {
    const probability = load<f32>(e + (<usize>j << 2)) * inverse;
    let gradient: f32 = 0;
    if (probability > 0) {
      gradient = probability * (byEntropy * (load<f32>(z + (<usize>j << 2)) - logSum + entropy) - byLogp);
    } else if (!load<u8>(job.legal + <usize>(start + j))) continue;
    else if (probability != probability) gradient = probability;
    if (j == action) gradient += byLogp;
    const to = net.pointer
      ? outputAddress(delta, lines, item + j, 0)
      : outputAddress(delta, lines, i, intAt(job.subset, start + j));
    store<f32>(to, load<f32>(to) + gradient);
  }
  return count;
}

/** Gradient of the loss by the lane's rows, critic only. */
export function criticLane(job: Job, lane: i32, scratch: usize): void {
  const net = job.critic;
  const gradient = job.lanes + <usize>lane * <usize>job.laneBytes + (net.parameters - job.parameters);
  memory.fill(gradient, 0, <usize>net.floats << 2);
  const end = laneStart(job.rows, lane + 1);
  const lines = layerAt(net, net.count - 1).outputs4;
  let loss: f64 = 0;
  for (let first = laneStart(job.rows, lane); first < end; first += BLOCK) {
    const rows = min(end - first, BLOCK);
    criticForward(job, first, rows, scratch);
    const delta = scratch + net.deltaA;
    memory.fill(delta, 0, (<usize>((rows + 7) >> 3) * <usize>lines) << 5);
    for (let i = 0; i < rows; i++) {
      const row = rowNumber(job, first + i);
      const weight = job.weight ? floatAt(job.weight, row) : 1;
      const value = floatAt(job.outValue, first + i);
      const target = floatAt(job.returns, row);
      let rowLoss = valueLoss(job, value - target);
      let slope = valueSlope(job, value - target);
      if (job.valueClip >= 0) {
        const old = floatAt(job.oldValue, row);
        const near = old + min(max(value - old, -job.valueClip), job.valueClip);
        const nearLoss = valueLoss(job, near - target);
        if (nearLoss > rowLoss) {
          rowLoss = nearLoss;
          // The clipped value is a constant; inside the bounds it is the value itself, up to a rounding.
          if (abs(value - old) > job.valueClip) slope = 0;
        }
      }
      loss += <f64>weight * <f64>rowLoss;
      store<f32>(outputAddress(delta, lines, i, 0), job.valueCoefficient * slope * (weight * job.inverseWeight));
    }
    backwardBlock(net, 0, scratch, scratch, rows, gradient, false);
  }
  store<f64>(job.statistics + <usize>(lane * STATISTICS + 8) * 8, loss);
}

@inline
function valueLoss(job: Job, error: f32): f32 {
  if (!job.huber) return error * error;
  const size = abs(error);
  return size <= job.huberDelta ? 0.5 * error * error : job.huberDelta * (size - 0.5 * job.huberDelta);
}

@inline
function valueSlope(job: Job, error: f32): f32 {
  if (!job.huber) return 2 * error;
  return min(max(error, -job.huberDelta), job.huberDelta);
}
