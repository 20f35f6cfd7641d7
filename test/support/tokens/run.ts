/** A recording of a small GRPO run, made number by number: what each option breaks is one line, so that a test knows what the doctor must find. */
import { RandomStream } from '../../../src/math/random.ts';
import { Recording } from '../../../src/recording/recording.ts';
import { memoryStore } from '../../../src/recording/source.ts';
import { RecordingWriter } from '../../../src/recording/writer.ts';
import { distribution, kept, moved, startWeights, type Weights } from './model.ts';
import type { Options, Response, Row, StepRow, Use } from './rows.ts';
import { overSequence } from './sequence.ts';
import { tables } from './tables.ts';

const longest = 12;

export async function tokenRun(options: Options = {}): Promise<Recording> {
  const random = RandomStream.of(options.seed ?? 1, 'tokens');
  const temperature = options.temperature ?? 0.8;
  const weightsOf: Weights[] = [startWeights(random)];
  const other = startWeights(random);
  const noise = () => (options.noise ?? 1e-7) * random.normal();
  const responses: Response[] = [];
  const uses: Use[] = [];
  const steps: StepRow[] = [];
  let previous: Response[] = [];
  for (let iteration = 0; iteration < (options.iterations ?? 5); iteration++) {
    const policy = weightsOf[weightsOf.length - 1];
    const served =
      options.syncs === 'never'
        ? weightsOf[0]
        : options.syncs === 'late'
          ? weightsOf[Math.max(0, iteration - 1)]
          : policy;
    let batch: Response[] = [];
    for (let k = 0; k < 24; k++) batch.push(sample(iteration, k, served));
    if (options.repeatResponses && previous.length > 0)
      batch = batch.map((own, k) =>
        k < 12
          ? { ...previous[k], episode: own.episode, iteration, rows: previous[k].rows.map((row) => ({ ...row })) }
          : own,
      );
    previous = batch;
    for (const own of batch) score(own, policy);
    credit(batch);
    update(iteration, batch, policy);
    responses.push(...batch);
    weightsOf.push(moved(policy, random, 0.3));
  }
  const store = memoryStore('tokens');
  const settings = {
    temperature,
    top_p: options.topP ?? 1,
    ratio: 'token',
    clip_low: 0.2,
    clip_high: 0.2,
    aggregation: options.level === 'sequence-mean' ? 'sequence-mean' : 'token-mean',
    baseline: 'group-mean',
    baseline_members: 'trained',
    scale: 'group-deviation',
    scale_epsilon: 1e-4,
    truncated: 'as-is',
    old_logp: 'trainer',
    max_response_length: longest,
    precision: { trainer: 'float32', sampler: 'float32' },
    ...(options.kl ? { kl: { estimator: 'k3', coefficient: 0.1, place: 'loss' } } : {}),
    ...(options.weight && options.weight !== 'none'
      ? { importance_weight: { level: 'token', cap: 2, kind: 'truncate' } }
      : {}),
    ...options.settings,
  };
  const writer = await RecordingWriter.create(store, {
    format: 'trueline/1',
    agents: [{ name: 'model', policy: 0 }],
    policies: [{ name: 'model' }],
    settings,
  });
  for (const [table, data] of tables(responses, uses, steps)) await writer.append(table, data);
  await writer.close();
  return Recording.open(store);

  function sample(iteration: number, k: number, weights: Weights): Response {
    const length = 3 + random.below(4);
    const ids = Array.from({ length }, () => 1 + random.below(11));
    const shift = options.samplerPadding ? k % 4 : 0;
    const rows: Row[] = [];
    const blank = {
      trained: 1,
      plain: Number.NaN,
      tempered: Number.NaN,
      control: Number.NaN,
      control2: Number.NaN,
      reference: Number.NaN,
      earlier: Number.NaN,
      old: Number.NaN,
      entropy: Number.NaN,
      mass: 1,
    };
    const cached = options.staleCache && iteration > 0 && k % 2 === 0 ? 2 : 0;
    const maker = cached > 0 ? weightsOf[0] : weights;
    let cut = true;
    for (let n = 0; n < longest; n++) {
      const t = ids.length;
      // A tool answers in the middle of some responses.
      if (k % 3 === 0 && (n === 4 || n === 5)) {
        ids.push(1 + random.below(11));
        rows.push({
          ...blank,
          t,
          token: ids[t],
          source: 'environment',
          trained: options.trainTools ? 1 : 0,
          sampler: Number.NaN,
        });
        continue;
      }
      const drawn = distribution(
        maker,
        ids[t - 1],
        t + shift,
        options.reports === 'ignores-temperature' ? 1 : temperature,
      );
      const cutoff = kept(drawn, options.topP ?? 1);
      let u = random.uniform() * cutoff.mass;
      let token = 0;
      for (let v = 0; v < drawn.length; v++) {
        if (cutoff.keep[v] === 0) continue;
        token = v;
        u -= Math.exp(drawn[v]);
        if (u <= 0) break;
      }
      const reported =
        options.reports === 'plain' || options.reports === 'ignores-temperature'
          ? distribution(maker, ids[t - 1], t + shift, 1)[token]
          : drawn[token] - (options.reports === 'kept' ? Math.log(cutoff.mass) : 0);
      ids.push(token);
      rows.push({ ...blank, t, token, source: 'sampled', sampler: reported + noise(), mass: cutoff.mass });
      if (token === 0) {
        cut = false;
        break;
      }
    }
    const sampled = rows.map(({ token }) => token);
    if (options.retokenise && k % 2 === 0 && rows.length > 4) {
      rows[3].token = (rows[3].token % 11) + 1;
      ids[rows[3].t] = rows[3].token;
    }
    if (options.logpShift) {
      const said = rows.map(({ sampler }) => sampler);
      rows.forEach((row, i) => {
        row.sampler = said[i - options.logpShift!] ?? said[i];
      });
    }
    const graded = (options.easy === 'mostly' ? Math.floor(k / 4) % 6 > 0 : options.easy)
      ? 1
      : Math.round(
          (10 * rows.filter(({ token, source }) => source === 'sampled' && token % 2 === 1).length) / rows.length,
        ) / 10;
    return {
      episode: iteration * 24 + k,
      group: iteration * 6 + Math.floor(k / 4),
      iteration,
      rows,
      ids,
      sampled,
      prompt: length,
      finish: cut ? 'length' : 'stop',
      graded,
      reward: graded,
      advantage: 0,
      padding: options.trainerPadding ? k % 4 : 0,
      samplerPadding: shift,
      cached,
      versions: {
        sampler: weightsOf.length - 1,
        trainer: weightsOf.length - 1,
        earlier: Math.max(0, weightsOf.length - 2),
      },
      pack: Math.floor(Math.floor(k / 2) / 3),
      masked: options.includeMasked === true && k % 5 === 0,
    };
  }

  function logp(weights: Weights, own: Response, row: Row, at: number, shift: number): number {
    return distribution(weights, own.ids[row.t - 1], row.t + shift, at)[row.token];
  }

  function score(own: Response, policy: Weights): void {
    const leak = options.packLeak && responsesInPack(own) > 0 ? 2 : 0;
    const reference = options.reference === 'policy' ? policy : options.reference === 'other' ? other : weightsOf[0];
    for (const row of own.rows) {
      const shift = own.padding + leak;
      row.plain = logp(policy, own, row, 1, shift) + noise();
      row.tempered =
        logp(policy, own, row, temperature, shift) + noise() + (options.dropout ? 0.3 * random.normal() : 0);
      row.control = logp(policy, own, row, temperature, 0) + noise();
      row.control2 = logp(policy, own, row, temperature, 0) + noise();
      row.earlier = logp(weightsOf[Math.max(0, weightsOf.length - 2)], own, row, temperature, 0) + noise();
      const cut = options.renormalise ? Math.log(row.mass) : 0;
      row.reference = logp(reference, own, row, temperature, 0) - cut + noise();
      row.old = row.tempered - cut;
      row.entropy = -distribution(policy, own.ids[row.t - 1], row.t, temperature).reduce(
        (sum, value) => sum + value * Math.exp(value),
        0,
      );
      if (own.masked) row.trained = 0;
    }
    const olds = own.rows.map(({ old }) => old);
    if (options.oldShift)
      own.rows.forEach((row, i) => {
        row.old = olds[i + options.oldShift!] ?? olds[i];
      });
    if (options.trainPadding)
      for (let extra = 0; extra < 2; extra++)
        own.rows.push({
          ...own.rows[own.rows.length - 1],
          t: own.ids.length + extra,
          source: 'padding',
          trained: 1,
          sampler: Number.NaN,
        });
    if (options.maskShift) shiftMask(own, options.maskShift);
  }

  function responsesInPack(own: Response): number {
    return Math.floor((own.episode % 24) / 2) % 3;
  }

  /** A mask that starts early trains the prompt's last token and forgets the answer's. */
  function shiftMask(own: Response, shift: number): void {
    const trained = new Set(own.rows.filter((row) => row.trained === 1).map((row) => row.t + shift));
    for (const row of own.rows) row.trained = trained.has(row.t) ? 1 : 0;
    if (shift < 0)
      own.rows.unshift({
        ...own.rows[0],
        t: own.prompt - 1,
        token: own.ids[own.prompt - 1],
        source: 'prompt',
        trained: 1,
        sampler: Number.NaN,
      });
  }

  function credit(batch: Response[]): void {
    for (const own of batch) own.reward = own.finish === 'length' && options.truncated === 'zeroed' ? 0 : own.graded;
    if (options.rewardOrder === 'rolled') {
      const rolled = batch.map((_, k) => batch[(k + 1) % batch.length].graded);
      batch.forEach((own, k) => {
        own.reward = rolled[k];
      });
    }
    const trained = batch.filter((own) => !own.masked || options.includeMasked);
    const membersOf = (own: Response, k: number) =>
      trained.filter((_, j) =>
        options.grouping === 'batch'
          ? true
          : options.grouping === 'interleaved'
            ? batch.indexOf(trained[j]) % 6 === k % 6
            : trained[j].group === own.group,
      );
    batch.forEach((own, k) => {
      const members = membersOf(own, k).map(({ reward }) => reward);
      const mean =
        options.grouping === 'first' ? members[0] : members.reduce((sum, value) => sum + value, 0) / members.length;
      const centre = members.reduce((sum, value) => sum + value, 0) / members.length;
      const deviation = Math.sqrt(
        members.reduce((sum, value) => sum + (value - centre) ** 2, 0) / Math.max(1, members.length - 1),
      );
      own.advantage = (own.reward - mean) / (deviation + 1e-4);
    });
  }

  function update(iteration: number, batch: Response[], policy: Weights): void {
    let current = policy;
    const credited = batch.map(({ advantage }) => advantage);
    const used = options.shuffleAdvantages ? credited.map((_, k) => credited[(k * 7 + 3) % credited.length]) : credited;
    for (let epoch = 0; epoch < 2; epoch++)
      for (let minibatch = 0; minibatch < 2; minibatch++) {
        const members = batch.filter((own, k) => k % 2 === minibatch && !own.masked);
        const slices = [members.slice(0, 6), members.slice(6)];
        const count = (list: Response[]) =>
          list.reduce((sum, { rows }) => sum + rows.filter(({ trained }) => trained === 1).length, 0);
        const all = count(members);
        const step = {
          iteration,
          epoch,
          minibatch,
          tokens: all,
          sequences: members.length,
          approxKl: 0,
          clipFraction: 0,
        };
        steps.push(step);
        const places =
          options.reported === 'padded' ? members.length * Math.max(...members.map(({ rows }) => rows.length)) : all;
        slices.forEach((slice, micro) => {
          for (const own of slice) {
            own.rows.forEach((row, at) => {
              const leak = options.packLeak && responsesInPack(own) > 0 ? 2 : 0;
              const cut = options.renormalise ? Math.log(row.mass) : 0;
              const pass = () =>
                logp(current, own, row, options.updateTemperature ? 1 : temperature, own.padding + leak) -
                cut +
                noise() +
                (options.dropout ? 0.3 * random.normal() : 0);
              const fresh = pass();
              const old = options.recomputeOld ? fresh : row.old;
              const advantage = (options.sign ?? 1) * used[batch.indexOf(own)];
              const ratio = Math.exp(fresh - old);
              const clipped = (advantage > 0 && ratio > 1.2) || (advantage < 0 && ratio < 0.8);
              const weight = options.weight === 'declared' ? Math.min(2, Math.exp(old - row.sampler)) : 1;
              const gap = row.reference - fresh;
              const slope = options.kl
                ? options.kl.coefficient * { k1: 1, k2: -gap, k3: 1 - Math.exp(gap) }[options.kl.estimator]
                : 0;
              const length = own.rows.filter(({ trained }) => trained === 1).length;
              const level = {
                'token-mean': 1 / all,
                'sequence-mean': 1 / (length * members.length),
                micro: 1 / (2 * count(slice)),
                unscaled: 1 / count(slice),
                sum: 1,
              }[options.level ?? 'token-mean'];
              if (row.trained === 1) {
                step.approxKl += (ratio - 1 - (fresh - old)) / places;
                step.clipFraction += (ratio > 1.2 || ratio < 0.8 ? 1 : 0) / places;
              }
              const term = (clipped ? 0 : -advantage * ratio * (Number.isNaN(weight) ? 1 : weight)) + slope;
              uses.push({
                iteration,
                epoch,
                minibatch,
                micro,
                response: own,
                row: at,
                fresh,
                old,
                coef: row.trained === 1 ? level * term : 0,
                again: options.dropout ? pass() : fresh + noise(),
              });
            });
            if (options.sequenceRatio) overSequence(uses, own, used[batch.indexOf(own)] / all);
          }
        });
        current = moved(current, random, 0.05);
      }
  }
}
