/** One block of rows through a network and back. Rows beyond the block's count are zero on the way in, and their deltas must be zero. */
import { accumulateBias, accumulateWeights, multiply } from './gemm';
import { gather, toColumns } from './layout';
import { tanhPairs } from './simd';
import { accumulateListed, listInputs, multiplyListed } from './sparse';
import { LAYER_BYTES, Layer, Net } from './structs';

@inline
export function layerAt(net: Net, index: i32): Layer {
  return changetype<Layer>(net.layers + <usize>index * LAYER_BYTES);
}

/** Where the output of layer `index` lies. */
@inline
export function outputOf(net: Net, index: i32, activations: usize): usize {
  return activations + (index + 1 < net.count ? layerAt(net, index + 1).input : net.output);
}

/** Applies an activation to panels of eight rows; of a last panel with at most four rows only the half that counts. */
export function activate(kind: i32, y: usize, lines: i32, rows: i32): void {
  if (kind == 0) return;
  const full = rows & 7 && (rows & 7) <= 4 ? rows >> 3 : (rows + 7) >> 3;
  const end = y + (<usize>full * (<usize>lines << 5));
  if (kind == 1) {
    tanhPairs(y, end, 16, 32);
    y = end;
  } else {
    for (; y < end; y += 16) v128.store(y, relu4(v128.load(y)));
  }
  if (full << 3 >= rows) return;
  const last = y + (<usize>lines << 5);
  if (kind == 1) {
    tanhPairs(y, last, 32, 64);
  } else {
    for (; y < last; y += 32) v128.store(y, relu4(v128.load(y)));
  }
}

/** Zero where x < 0; NaN stays NaN. */
@inline
function relu4(x: v128): v128 {
  return f32x4.pmax(x, f32x4.splat(0));
}

/** Multiplies deltas by the derivative of the activation, known from its result h. */
function throughActivation(kind: i32, delta: usize, h: usize, floats: i32): void {
  const end = delta + (<usize>floats << 2);
  const one = f32x4.splat(1);
  if (kind == 1) {
    for (; delta < end; delta += 16) {
      const v = v128.load(h);
      v128.store(delta, f32x4.mul(v128.load(delta), f32x4.sub(one, f32x4.mul(v, v))));
      h += 16;
    }
  } else if (kind == 2) {
    for (; delta < end; delta += 16) {
      v128.store(delta, v128.and(v128.load(delta), f32x4.gt(v128.load(h), f32x4.splat(0))));
      h += 16;
    }
  }
}

/** Whether the block that `forwardFrom` took last went by a list of its inputs, which its way back then uses too. */
let listed: bool = false;

/** Rows order[first ..] of a row-major matrix through the whole network. */
export function forwardFrom(net: Net, source: usize, order: usize, first: i32, rows: i32, scratch: usize): void {
  const layer = layerAt(net, 0);
  listed = listInputs(source, layer.inputs, order, first, rows, scratch + net.entries, scratch + net.starts);
  if (listed) {
    forwardListed(net, scratch + net.starts, scratch, rows, scratch);
    return;
  }
  gather(source, layer.inputs, layer.inputs4, order, first, rows, scratch + layer.input);
  forwardBlock(net, 0, scratch, rows);
}

/** The way back of the block that `forwardFrom` took last. */
export function backwardFrom(net: Net, scratch: usize, rows: i32, lane: usize): void {
  if (listed) backwardListed(net, scratch + net.starts, scratch, scratch, rows, lane);
  else backwardBlock(net, 0, scratch, scratch, rows, lane, false);
}

/** The whole network, its first layer from the list of inputs that `starts` leads to. */
export function forwardListed(net: Net, starts: usize, activations: usize, rows: i32, scratch: usize): void {
  const layer = layerAt(net, 0);
  const y = outputOf(net, 0, activations);
  const wStep = <usize>layer.inputs4 << 4;
  multiplyListed(starts, layer.weight, wStep, layer.bias, y, layer.outputs4, rows, scratch + net.panel);
  activate(layer.activation, y, layer.outputs4, rows);
  forwardBlock(net, 1, activations, rows);
}

/** The way back of a block that went forward by a list; returns where the deltas of the first layer's outputs lie. */
export function backwardListed(net: Net, starts: usize, activations: usize, scratch: usize, rows: i32, lane: usize): usize {
  const delta = backwardBlock(net, 1, activations, scratch, rows, lane, false);
  const layer = layerAt(net, 0);
  const panels = (rows + 7) >> 3;
  const columns = scratch + net.panel;
  toColumns(delta, layer.outputs4, panels, columns);
  const gradient = lane + (layer.weight - net.parameters);
  accumulateListed(starts, rows, columns, layer.outputs4, panels, gradient, <usize>layer.inputs4 << 4);
  accumulateBias(columns, layer.outputs4, panels, lane + (layer.bias - net.parameters));
  return delta;
}

/** Layers `first` .. end; the input of the first one lies in its place. */
export function forwardBlock(net: Net, first: i32, activations: usize, rows: i32): void {
  for (let index = first; index < net.count; index++) {
    const layer = layerAt(net, index);
    const y = outputOf(net, index, activations);
    multiply(activations + layer.input, layer.inputs, layer.inputs4, layer.weight, layer.bias, false, y, layer.outputs4, rows);
    activate(layer.activation, y, layer.outputs4, rows);
  }
}

/**
 * From the deltas of the last layer's outputs, in `net.deltaA`, down to layer `last`, adding weight and bias gradients of every layer
 * from `last` up; returns where the deltas of the outputs of layer `last - 1`, before its activation, lie. With last = 0 those of the
 * input are made only if `wantInput`.
 */
export function backwardBlock(
  net: Net, last: i32, activations: usize, scratch: usize, rows: i32, lane: usize, wantInput: bool,
): usize {
  const panels = (rows + 7) >> 3;
  let delta = scratch + net.deltaA;
  let other = scratch + net.deltaB;
  const columns = scratch + net.panel;
  for (let index = net.count - 1; index >= last; index--) {
    const layer = layerAt(net, index);
    const x = activations + layer.input;
    toColumns(delta, layer.outputs4, panels, columns);
    accumulateWeights(x, layer.inputs4, columns, layer.outputs4, panels, lane + (layer.weight - net.parameters));
    accumulateBias(columns, layer.outputs4, panels, lane + (layer.bias - net.parameters));
    if (index > 0 || wantInput) {
      multiply(delta, layer.outputs, layer.outputs4, layer.transposed, 0, false, other, layer.inputs4, panels << 3);
      if (index > 0) throughActivation(layerAt(net, index - 1).activation, other, x, (panels << 3) * layer.inputs4);
      const swap = delta;
      delta = other;
      other = swap;
    }
  }
  return delta;
}
