/** What the engine calls. A task is one piece of work that any thread can take: its kind, its job and a number. */
import { adamNet, packNet, reduceNet } from './adam';
import { multiply } from './gemm';
import { gather, scatterRows } from './layout';
import { lossOf, shares } from './learn';
import { backwardBlock, backwardListed, forwardBlock, forwardListed, layerAt } from './network';
import { actorLane, actorRows, criticLane, criticRows, laneCount } from './policy';
import { exp4, log4, tanhPairs } from './simd';
import { listInputs } from './sparse';
import { BLOCK, Copy, Job, LANES, Net, Pass } from './structs';

/** Rows in one forward task. */
const FORWARD_ROWS: i32 = 32;

export function task(at: usize, scratch: usize): void {
  const kind = load<i32>(at);
  const address = load<usize>(at, 4);
  const number = load<i32>(at, 8);
  const job = changetype<Job>(address);
  if (kind == 0 || kind == 7) {
    const first = number * FORWARD_ROWS;
    const end = min(job.rows, first + FORWARD_ROWS);
    if (kind == 0) actorRows(job, first, end, scratch);
    else criticRows(job, first, end, scratch);
  } else if (kind == 1) actorLane(job, number, scratch);
  else if (kind == 2) criticLane(job, number, scratch);
  else if (kind == 3) {
    const net = number ? job.critic : job.actor;
    const offset = net.parameters - job.parameters;
    reduceNet(net, laneCount(job.rows), job.lanes + offset, job.laneBytes, job.gradient + offset, false);
  } else if (kind == 4) adamNet(job, number ? job.critic : job.actor);
  else if (kind == 5) passForward(changetype<Pass>(address), number, scratch);
  else if (kind == 6 || kind == 9) passLane(changetype<Pass>(address), number, scratch, kind == 9);
  else if (kind == 8) copyRows(changetype<Copy>(address), number);
  else unreachable();
}

/** Rows of one copy task. */
const COPY_ROWS: i32 = 512;

/** Rows list[first ..] of a row-major matrix, one after the other. */
function copyRows(copy: Copy, number: i32): void {
  const bytes = <usize>copy.bytes;
  const end = min(copy.rows, (number + 1) * COPY_ROWS);
  for (let i = number * COPY_ROWS; i < end; i++)
    memory.copy(copy.into + <usize>i * bytes, copy.from + <usize>load<i32>(copy.list + (<usize>i << 2)) * bytes, bytes);
}

/** Where a block's activations lie. Their last word says whether the inputs are a list, which then lies where they would be. */
@inline
function activationsOf(pass: Pass, block: i32): usize {
  return pass.activations + <usize>block * <usize>pass.activationBytes;
}

/** Forward of one block of a network by itself. */
function passForward(pass: Pass, block: i32, scratch: usize): void {
  const net = pass.net;
  const layer = layerAt(net, 0);
  const last = layerAt(net, net.count - 1);
  const first = block * BLOCK;
  const rows = min(pass.rows - first, BLOCK);
  const activations = activationsOf(pass, block);
  const starts = activations + layer.input;
  const listed = listInputs(pass.x, layer.inputs, 0, first, rows, starts + 4 * (BLOCK + 2), starts);
  store<i32>(activations + <usize>pass.activationBytes - 4, listed);
  if (listed) forwardListed(net, starts, activations, rows, scratch);
  else {
    gather(pass.x, layer.inputs, layer.inputs4, 0, first, rows, activations + layer.input);
    forwardBlock(net, 0, activations, rows);
  }
  const y = pass.y + (<usize>(first * last.outputs) << 2);
  scatterRows(activations + net.output, last.outputs, last.outputs4, rows, y);
  if (pass.shares) {
    const out = pass.shares + (<usize>(first * pass.stride) << 2);
    shares(y, pass.legal + (<usize>first << 2), out, rows, last.outputs, pass.stride);
  }
}

/** Backward of one block, which adds to a lane's gradients. */
function passBack(pass: Pass, block: i32, scratch: usize, gradient: usize): void {
  const net = pass.net;
  const layer = layerAt(net, 0);
  const last = layerAt(net, net.count - 1);
  const first = block * BLOCK;
  const rows = min(pass.rows - first, BLOCK);
  const activations = activationsOf(pass, block);
  const a = scratch + net.deltaA, b = scratch + net.deltaB;
  let delta: usize;
  gather(pass.gradOut, last.outputs, last.outputs4, 0, first, rows, a);
  if (load<i32>(activations + <usize>pass.activationBytes - 4)) {
    delta = backwardListed(net, activations + layer.input, activations, scratch, rows, gradient);
    if (pass.gradIn) {
      const other = delta == a ? b : a;
      multiply(delta, layer.outputs, layer.outputs4, layer.transposed, 0, false, other, layer.inputs4, (rows + 7) & ~7);
      delta = other;
    }
  } else delta = backwardBlock(net, 0, activations, scratch, rows, gradient, pass.gradIn != 0);
  if (pass.gradIn) scatterRows(delta, layer.inputs, layer.inputs4, rows, pass.gradIn + (<usize>(first * layer.inputs) << 2));
}

/** One lane's blocks back, or forward, through their loss and back; the lane's gradients start from zero. */
function passLane(pass: Pass, lane: i32, scratch: usize, learns: bool): void {
  const net = pass.net;
  const columns = layerAt(net, net.count - 1).outputs;
  const gradient = pass.lanes + <usize>lane * <usize>pass.laneBytes;
  memory.fill(gradient, 0, <usize>net.floats << 2);
  // Blocks begin at row 0, as those of a forward pass do; lanes take whole blocks.
  const blocks = (pass.rows + BLOCK - 1) / BLOCK;
  const end = blockStart(blocks, lane + 1);
  let loss: f64 = 0;
  for (let block = blockStart(blocks, lane); block < end; block++) {
    if (learns) {
      const first = block * BLOCK;
      passForward(pass, block, scratch);
      loss += lossOf(pass, columns, first, min(pass.rows - first, BLOCK));
    }
    passBack(pass, block, scratch, gradient);
  }
  if (learns) store<f64>(pass.losses + (<usize>lane << 3), loss);
}

@inline
function blockStart(blocks: i32, lane: i32): i32 {
  return (blocks * lane) >> 2;
}

/** The lanes' gradients of a backward pass, added to those kept where there are any. */
export function passReduce(pass: Pass): void {
  reduceNet(pass.net, LANES, pass.lanes, pass.laneBytes, pass.gradient, pass.add != 0);
}

export function adamStep(job: Job, net: Net): void {
  adamNet(job, net);
}

export function pack(net: Net): void {
  packNet(net);
}

export function exponentials(at: usize, bytes: usize): void {
  for (const end = at + bytes; at < end; at += 16) v128.store(at, exp4(v128.load(at)));
}

export function logarithms(at: usize, bytes: usize): void {
  for (const end = at + bytes; at < end; at += 16) v128.store(at, log4(v128.load(at)));
}

export function tangents(at: usize, bytes: usize): void {
  tanhPairs(at, at + bytes, 16, 32);
}
