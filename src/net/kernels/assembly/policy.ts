/** Rows of decisions through actor and critic: forward for rollouts and replays, and one lane of a PPO update. */
import { floatAt, intAt, outputAddress, placeOf, rowNumber } from './columns';
import { distanceOf, distribution, entropies, logSums, sample } from './distribution';
import { accumulateBias, accumulateWeights, multiply } from './gemm';
import { gather, gatherSums, spread, toColumns } from './layout';
import { clearStatistics, gatherLogits, policyRows, storeStatistics, valueLoss, valueSlope } from './loss';
import { activate, backwardBlock, backwardFrom, forwardBlock, forwardFrom, layerAt, outputOf } from './network';
import { BLOCK, ITEMS, Job, LANES, Layer, MANY_ROWS, STATISTICS } from './structs';

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
  if (!net.pointer) {
    forwardFrom(net, job.obs, job.order, first, rows, scratch);
    return;
  }
  const layer = layerAt(net, 0);
  gather(job.obs, layer.inputs, layer.inputs4, job.order, first, rows, scratch + layer.input);
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
    backwardFrom(net, scratch, rows, lane);
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
  accumulateWeights(
    scratch + features.input, features.inputs4, columns, layer.outputs4, itemPanels, lane + (features.weight - net.parameters),
  );
  gatherSums(columns, layer.outputs4, itemPanels, scratch + net.rowOfItem, items, rowPanels, rowColumns);
  accumulateWeights(
    scratch + layer.input, layer.inputs4, rowColumns, layer.outputs4, rowPanels, lane + (layer.weight - net.parameters),
  );
  accumulateBias(rowColumns, layer.outputs4, rowPanels, lane + (layer.bias - net.parameters));
}

/** Rows [first, end): distributions, and actions where there are uniforms. */
export function actorRows(job: Job, first: i32, end: i32, scratch: usize): void {
  while (first < end) {
    const rows = blockRows(job, first, end);
    actorForward(job, first, rows, scratch);
    for (let i = 0, item = 0; i < rows; i += 4) item += chooseRows(job, scratch, first, i, rows, item);
    first += rows;
  }
}

/** Rows [first, end): values. */
export function criticRows(job: Job, first: i32, end: i32, scratch: usize): void {
  for (; first < end; first += BLOCK) criticForward(job, first, min(end - first, BLOCK), scratch);
}

/** Distributions of the block's rows [i, i + 4), and actions where there are uniforms; returns the number of their candidates. */
function chooseRows(job: Job, scratch: usize, first: i32, i: i32, rows: i32, item: i32): i32 {
  const net = job.actor;
  const z = scratch + net.local;
  const e = scratch + net.localProbability;
  const figures = scratch + net.rowFigures;
  distribution(z, e, gatherLogits(job, scratch, first, i, rows, item));
  v128.store(figures, logSums);
  v128.store(figures, entropies, 16);
  let candidates = 0;
  for (let r = i, end = min(i + 4, rows); r < end; r++) {
    const at = first + r;
    const lane = <usize>(r - i) << 2;
    const row = rowNumber(job, at);
    const count = intAt(job.offsets, row + 1) - intAt(job.offsets, row);
    let action: i32;
    if (job.uniforms) {
      action = sample(e + lane, count, floatAt(job.uniforms, at));
      store<i32>(job.outAction + (<usize>at << 2), action);
    } else action = intAt(job.action, row);
    const place = <usize>placeOf(job, at) << 2;
    store<f32>(job.outLogp + place, distanceOf(z + lane, count, action) - load<f32>(figures + lane));
    store<f32>(job.outEntropy + place, load<f32>(figures + lane, 16));
    candidates += count;
  }
  return candidates;
}

function criticForward(job: Job, first: i32, rows: i32, scratch: usize): void {
  const net = job.critic;
  const lines = layerAt(net, net.count - 1).outputs4;
  forwardFrom(net, job.state, job.order, first, rows, scratch);
  for (let i = 0; i < rows; i++) {
    const value = load<f32>(outputAddress(scratch + net.output, lines, i, 0));
    store<f32>(job.outValue + (<usize>placeOf(job, first + i) << 2), value);
  }
}

export function laneCount(rows: i32): i32 {
  return rows < MANY_ROWS ? LANES : 2 * LANES;
}

/** The first row of a lane: panels of eight rows are dealt out evenly. */
function laneStart(rows: i32, lane: i32): i32 {
  return min(rows, ((((rows + 7) >> 3) * lane) / laneCount(rows)) << 3);
}

/** Gradient of the loss by the lane's rows, actor only. */
export function actorLane(job: Job, lane: i32, scratch: usize): void {
  const net = job.actor;
  const gradient = job.lanes + <usize>lane * <usize>job.laneBytes + (net.parameters - job.parameters);
  memory.fill(gradient, 0, <usize>net.floats << 2);
  clearStatistics();
  const end = laneStart(job.rows, lane + 1);
  const lines = layerAt(net, net.count - 1).outputs4;
  for (let first = laneStart(job.rows, lane); first < end; ) {
    const rows = blockRows(job, first, end);
    actorForward(job, first, rows, scratch);
    const outputs = net.pointer ? items : rows;
    memory.fill(scratch + net.deltaA, 0, (<usize>((outputs + 7) >> 3) * <usize>lines) << 5);
    for (let i = 0, item = 0; i < rows; i += 4) item += policyRows(job, scratch, lines, first, i, rows, item);
    actorBackward(job, rows, scratch, gradient);
    first += rows;
  }
  storeStatistics(job.statistics + <usize>(lane * STATISTICS) * 8);
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
      const value = load<f32>(outputAddress(scratch + net.output, lines, i, 0));
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
    backwardFrom(net, scratch, rows, gradient);
  }
  store<f64>(job.statistics + <usize>(lane * STATISTICS + 8) * 8, loss);
}
