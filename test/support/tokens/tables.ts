/** The rows of a small token run as columns of a recording. */
import type { ColumnData } from '../../../src/recording/writer.ts';
import type { Response, Row, StepRow, Use } from './rows.ts';

export function tables(responses: Response[], uses: Use[], steps: StepRow[]): [string, Record<string, ColumnData>][] {
  const flat = responses.flatMap((own) => own.rows.map((row) => ({ own, row })));
  const starts = new Map<Response, number>();
  const counts = new Map<number, number>();
  for (const own of responses) {
    const at = counts.get(own.iteration) ?? 0;
    starts.set(own, at);
    counts.set(own.iteration, at + own.rows.length);
  }
  const ints = <T>(list: T[], value: (item: T) => number) => Int32Array.from(list, value);
  const floats = <T>(list: T[], value: (item: T) => number) => Float64Array.from(list, value);
  const of = (name: keyof Row) => floats(flat, ({ row }) => row[name] as number);
  const lists = responses.map(({ sampled }) => sampled);
  const offsets = new Int32Array(lists.length + 1);
  lists.forEach((list, i) => {
    offsets[i + 1] = offsets[i] + list.length;
  });
  return [
    [
      'samples',
      {
        iteration: ints(flat, ({ own }) => own.iteration),
        episode: ints(flat, ({ own }) => own.episode),
        t: ints(flat, ({ row }) => row.t),
        agent: ints(flat, () => 0),
        token: ints(flat, ({ row }) => row.token),
        source: flat.map(({ row }) => row.source),
        trained: Uint8Array.from(flat, ({ row }) => row.trained),
        sampler_logp: of('sampler'),
        logp_plain: of('plain'),
        logp_tempered: of('tempered'),
        control_logp: of('control'),
        control2_logp: of('control2'),
        reference_logp: of('reference'),
        earlier_logp: of('earlier'),
        kept_mass: of('mass'),
        old_logp: of('old'),
      },
    ],
    [
      'responses',
      {
        iteration: ints(responses, (own) => own.iteration),
        episode: ints(responses, (own) => own.episode),
        group: ints(responses, (own) => own.group),
        length: ints(responses, ({ rows }) => rows.filter(({ trained }) => trained === 1).length),
        prompt_length: ints(responses, (own) => own.prompt),
        finish: responses.map((own) => own.finish),
        reward: floats(responses, (own) => own.reward),
        graded: floats(responses, (own) => own.graded),
        advantage: floats(responses, (own) => own.advantage),
        sampler_version: ints(responses, (own) => own.versions.sampler),
        trainer_version: ints(responses, (own) => own.versions.trainer),
        earlier_version: ints(responses, (own) => own.versions.earlier),
        cached_tokens: ints(responses, (own) => own.cached),
        padding: ints(responses, (own) => own.padding),
        sampler_padding: ints(responses, (own) => own.samplerPadding),
        sampled: { values: Int32Array.from(lists.flat()), offsets },
      },
    ],
    [
      'replays',
      {
        iteration: ints(uses, (use) => use.iteration),
        epoch: ints(uses, (use) => use.epoch),
        minibatch: ints(uses, (use) => use.minibatch),
        sample: ints(uses, (use) => starts.get(use.response)! + use.row),
        new_logp: floats(uses, (use) => use.fresh),
        old_logp: floats(uses, (use) => use.old),
        coef: floats(uses, (use) => use.coef),
        micro_batch: ints(uses, (use) => use.micro),
        pack: ints(uses, (use) => use.response.pack),
        again_logp: floats(uses, (use) => use.again),
        entropy: floats(uses, (use) => use.response.rows[use.row].entropy),
      },
    ],
    [
      'steps',
      {
        iteration: ints(steps, (step) => step.iteration),
        epoch: ints(steps, (step) => step.epoch),
        minibatch: ints(steps, (step) => step.minibatch),
        tokens: ints(steps, (step) => step.tokens),
        sequences: ints(steps, (step) => step.sequences),
        approx_kl: floats(steps, (step) => step.approxKl),
        clip_fraction: floats(steps, (step) => step.clipFraction),
      },
    ],
  ];
}
