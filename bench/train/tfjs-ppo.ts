/** PPO on TensorFlow.js, what TypeScript programs have today, with the settings of our trainer. It plays our own CartPole, so only the learning differs. */
import * as tf from '@tensorflow/tfjs';
import { makeGame } from '../../src/games/index.ts';
import { RandomStream } from '../../src/math/random.ts';

export interface PpoSizes {
  worlds: number;
  steps: number;
  hidden: number;
  epochs: number;
  minibatches: number;
}

const inputs = 4;
const actions = 2;

function network(hidden: number, outputs: number): tf.Variable[] {
  const widths = [inputs, hidden, hidden, outputs];
  return widths.slice(1).flatMap((width, i) => {
    const weight = tf.randomNormal([widths[i], width], 0, Math.SQRT2 / Math.sqrt(widths[i]));
    return [tf.variable(weight), tf.variable(tf.zeros([width]))];
  });
}

function forward(x: tf.Tensor2D, [w1, b1, w2, b2, w3, b3]: tf.Variable[]): tf.Tensor2D {
  const first = tf.tanh(tf.add(tf.matMul(x, w1 as tf.Tensor2D), b1)) as tf.Tensor2D;
  const second = tf.tanh(tf.add(tf.matMul(first, w2 as tf.Tensor2D), b2)) as tf.Tensor2D;
  return tf.add(tf.matMul(second, w3 as tf.Tensor2D), b3) as tf.Tensor2D;
}

/** Gives the seconds of one iteration: play, credit and all epochs. */
export async function tfjsLoop(sizes: PpoSizes): Promise<() => number> {
  // Without its checks of every tensor, and without its advice to install a native addon.
  tf.enableProdMode();
  await tf.setBackend('cpu');
  const { worlds, steps, hidden, epochs, minibatches } = sizes;
  const actor = network(hidden, actions);
  const critic = network(hidden, 1);
  const adam = tf.train.adam(1e-3, 0.9, 0.999, 1e-5);
  const game = makeGame('cartpole', {}, worlds);
  const stream = RandomStream.of(1, 'tfjs');
  let episode = 0;
  const begin = (world: number) => game.reset(world, RandomStream.of(1, 'tfjs', world, episode++));
  for (let world = 0; world < worlds; world++) begin(world);
  const total = worlds * steps;
  const floats = () => new Float32Array(total);
  const column = {
    logp: floats(),
    value: floats(),
    next: floats(),
    reward: floats(),
    advantage: floats(),
    returns: floats(),
  };
  const obs = new Float32Array(total * inputs);
  const action = new Int32Array(total);
  const ended = new Uint8Array(total);
  const order = Int32Array.from({ length: total }, (_, i) => i);

  const judge = (states: Float32Array, count: number) =>
    tf.tidy(() => forward(tf.tensor2d(states, [count, inputs]), critic).dataSync() as Float32Array);

  const play = () => {
    for (let t = 0; t < steps; t++) {
      const first = t * worlds;
      obs.set(game.obs, first * inputs);
      const [logp, value] = tf.tidy(() => {
        const x = tf.tensor2d(game.obs, [worlds, inputs]);
        return [tf.logSoftmax(forward(x, actor)).dataSync(), forward(x, critic).dataSync()];
      });
      for (let world = 0; world < worlds; world++) {
        const chosen = stream.uniform() < Math.exp(logp[world * actions]) ? 0 : 1;
        action[first + world] = chosen;
        column.logp[first + world] = logp[world * actions + chosen];
        column.value[first + world] = value[world];
        if (t > 0 && ended[first - worlds + world] === 0) column.next[first - worlds + world] = value[world];
      }
      game.step(action.subarray(first, first + worlds));
      let truncated = false;
      for (let world = 0; world < worlds; world++) {
        column.reward[first + world] = game.reward[world];
        column.next[first + world] = 0;
        ended[first + world] = game.over[world];
        truncated ||= game.truncated[world] === 1;
      }
      if (truncated) {
        const after = judge(game.obs, worlds);
        for (let world = 0; world < worlds; world++)
          if (game.truncated[world] === 1) column.next[first + world] = after[world];
      }
      for (let world = 0; world < worlds; world++) if (game.over[world] === 1) begin(world);
    }
    const last = judge(game.obs, worlds);
    for (let world = 0; world < worlds; world++) {
      const row = total - worlds + world;
      if (ended[row] === 0) column.next[row] = last[world];
    }
  };

  const credit = () => {
    let mean = 0;
    let square = 0;
    for (let row = total - 1; row >= 0; row--) {
      const delta = column.reward[row] + 0.99 * column.next[row] - column.value[row];
      const later = row + worlds < total && ended[row] === 0 ? column.advantage[row + worlds] : 0;
      column.advantage[row] = delta + 0.99 * 0.95 * later;
      column.returns[row] = column.advantage[row] + column.value[row];
      mean += column.advantage[row] / total;
      square += column.advantage[row] ** 2 / total;
    }
    const spread = Math.sqrt(Math.max(0, square - mean * mean)) + 1e-8;
    for (let row = 0; row < total; row++) column.advantage[row] = (column.advantage[row] - mean) / spread;
  };

  const variables = [...actor, ...critic];
  const update = (all: Record<string, tf.Tensor>, rows: Int32Array) =>
    tf.tidy(() => {
      const chosen = tf.tensor1d(rows, 'int32');
      const take = <T extends tf.Tensor>(name: string) => tf.gather(all[name], chosen) as T;
      const x = take<tf.Tensor2D>('obs');
      const hot = take<tf.Tensor2D>('action');
      const loss = () => {
        const logpAll = tf.logSoftmax(forward(x, actor));
        const ratio = tf.exp(tf.sub(tf.sum(tf.mul(logpAll, hot), 1), take('logp')));
        const advantage = take('advantage');
        const surrogate = tf.minimum(tf.mul(ratio, advantage), tf.mul(tf.clipByValue(ratio, 0.8, 1.2), advantage));
        const negativeEntropy = tf.mean(tf.sum(tf.mul(tf.exp(logpAll), logpAll), 1));
        const error = tf.mean(tf.square(tf.sub(tf.squeeze(forward(x, critic), [1]), take('returns'))));
        return tf.addN([tf.neg(tf.mean(surrogate)), tf.mul(negativeEntropy, 0.01), tf.mul(error, 0.5)]) as tf.Scalar;
      };
      const { grads } = tf.variableGrads(loss, variables);
      const norm = tf.sqrt(tf.addN(Object.values(grads).map((gradient) => tf.sum(tf.square(gradient)))));
      const factor = tf.minimum(tf.div(0.5, tf.add(norm, 1e-6)), 1);
      adam.applyGradients(Object.fromEntries(Object.entries(grads).map(([name, g]) => [name, tf.mul(g, factor)])));
    });

  return () => {
    const begun = performance.now();
    play();
    credit();
    const all = {
      obs: tf.tensor2d(obs, [total, inputs]),
      action: tf.tidy(() => tf.cast(tf.oneHot(tf.tensor1d(action, 'int32'), actions), 'float32')),
      logp: tf.tensor1d(column.logp),
      advantage: tf.tensor1d(column.advantage),
      returns: tf.tensor1d(column.returns),
    };
    for (let epoch = 0; epoch < epochs; epoch++) {
      stream.shuffle(order);
      for (let i = 0; i < minibatches; i++)
        update(all, order.slice((i * total) / minibatches, ((i + 1) * total) / minibatches));
    }
    tf.dispose(all);
    return (performance.now() - begun) / 1000;
  };
}
