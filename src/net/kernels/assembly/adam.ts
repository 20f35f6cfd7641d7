/** Sums the lanes' gradients in their order, and Adam with coupled weight decay, as torch.optim.Adam defines it. */
import { transposeWeights } from './layout';
import { layerAt } from './network';
import { madd, sum2, widen } from './simd';
import { Job, Layer, Net, TENSOR_BYTES, Tensor } from './structs';

/** Sums the lanes into `gradient` (adding to it where `add`), and notes each tensor's squared norm. A lane without rows is zero. */
export function reduceNet(net: Net, count: i32, lanes: usize, laneBytes: usize, gradient: usize, add: bool): void {
  const last = lanes + <usize>count * laneBytes;
  // Offsets are from the first parameter of the lanes' owner.
  for (let t = 0; t < net.tensorCount; t++) {
    const tensor = changetype<Tensor>(net.tensors + <usize>t * TENSOR_BYTES);
    const from = tensor.parameters - net.parameters;
    const bytes = <usize>tensor.floats << 2;
    let squares = f64x2.splat(0);
    for (let at = from, end = from + bytes; at < end; at += 16) {
      let value = add ? v128.load(gradient + at) : f32x4.splat(0);
      // Four lanes at a time; there are four or eight.
      for (let lane = lanes; lane < last; lane += 4 * laneBytes) {
        const p = lane + at;
        value = f32x4.add(f32x4.add(value, v128.load(p)), v128.load(p + laneBytes));
        value = f32x4.add(f32x4.add(value, v128.load(p + 2 * laneBytes)), v128.load(p + 3 * laneBytes));
      }
      v128.store(gradient + at, value);
      squares = widenSquares(squares, value);
    }
    store<f64>(tensor.results, sum2(squares));
  }
}

@inline
function widenSquares(sums: v128, v: v128): v128 {
  const low = f64x2.promote_low_f32x4(v);
  const high = f64x2.promote_low_f32x4(v128.shuffle<u32>(v, v, 2, 3, 2, 3));
  return f64x2.add(f64x2.add(sums, f64x2.mul(low, low)), f64x2.mul(high, high));
}

/** One step of every tensor of a network, and its weights packed anew for the way back. */
export function adamNet(job: Job, net: Net): void {
  for (let t = 0; t < net.tensorCount; t++) {
    const tensor = changetype<Tensor>(net.tensors + <usize>t * TENSOR_BYTES);
    const role = tensor.role;
    const stepSize = role == 0 ? job.stepSize0 : role == 1 ? job.stepSize1 : job.stepSize2;
    const decay = role == 0 ? job.decay0 : role == 1 ? job.decay1 : job.decay2;
    const scale = role == 0 ? job.scale0 : role == 1 ? job.scale1 : job.scale2;
    adamTensor(job, tensor, stepSize, decay, scale);
  }
  packNet(net);
}

function adamTensor(job: Job, tensor: Tensor, stepSize: f32, decay: f32, scale: f32): void {
  const offset = tensor.parameters - job.parameters;
  const p = tensor.parameters;
  const g = job.gradient + offset;
  const m = job.firstMoment + offset;
  const v = job.secondMoment + offset;
  const beta1 = f32x4.splat(job.beta1);
  const beta2 = f32x4.splat(job.beta2);
  const rest1 = f32x4.splat(job.oneLessBeta1);
  const rest2 = f32x4.splat(job.oneLessBeta2);
  const eps = f32x4.splat(job.eps);
  const correction = f32x4.splat(job.inverseRootCorrection);
  const step = f32x4.splat(-stepSize);
  const decays = f32x4.splat(decay);
  const scales = f32x4.splat(scale);
  const bytes = <usize>tensor.floats << 2;
  if (!job.measure) {
    for (let i: usize = 0; i < bytes; i += 16) {
      const parameter = v128.load(p + i);
      const gradient = madd(decays, parameter, f32x4.mul(v128.load(g + i), scales));
      const first = madd(beta1, v128.load(m + i), f32x4.mul(rest1, gradient));
      const second = madd(beta2, v128.load(v + i), f32x4.mul(rest2, f32x4.mul(gradient, gradient)));
      v128.store(m + i, first);
      v128.store(v + i, second);
      const ratio = f32x4.div(first, madd(f32x4.sqrt(second), correction, eps));
      v128.store(p + i, madd(step, ratio, parameter));
    }
    return;
  }
  let nonzero = i32x4.splat(0);
  let changes = f64x2.splat(0);
  let changeSquares = f64x2.splat(0);
  let norms = f64x2.splat(0);
  for (let i: usize = 0; i < bytes; i += 16) {
    const parameter = v128.load(p + i);
    const raw = v128.load(g + i);
    const gradient = madd(decays, parameter, f32x4.mul(raw, scales));
    const first = madd(beta1, v128.load(m + i), f32x4.mul(rest1, gradient));
    const second = madd(beta2, v128.load(v + i), f32x4.mul(rest2, f32x4.mul(gradient, gradient)));
    v128.store(m + i, first);
    v128.store(v + i, second);
    const ratio = f32x4.div(first, madd(f32x4.sqrt(second), correction, eps));
    const after = madd(step, ratio, parameter);
    v128.store(p + i, after);
    nonzero = i32x4.sub(nonzero, f32x4.ne(raw, f32x4.splat(0)));
    const change = f32x4.sub(after, parameter);
    changes = widen(changes, f32x4.abs(change));
    changeSquares = widenSquares(changeSquares, change);
    norms = widenSquares(norms, after);
  }
  const results = tensor.results;
  store<f64>(
    results,
    <f64>(
      i32x4.extract_lane(nonzero, 0) + i32x4.extract_lane(nonzero, 1) + i32x4.extract_lane(nonzero, 2) + i32x4.extract_lane(nonzero, 3)
    ),
    8,
  );
  store<f64>(results, sum2(changes), 16);
  store<f64>(results, sum2(changeSquares), 24);
  store<f64>(results, sum2(norms), 32);
}

export function packNet(net: Net): void {
  for (let index = 0; index < net.count; index++) {
    const layer: Layer = layerAt(net, index);
    if (layer.transposed) transposeWeights(layer.weight, layer.inputs4, layer.outputs4, layer.transposed);
  }
}
