/** Do sampler and trainer agree on what was sampled? Only rows that both scored with the same weights are compared; where they do not agree, every column that the sampler could have reported instead is tried. */
import { mean } from '../../../math/statistics.ts';
import { type Finding, figure, percent, type Remark } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import { dependence } from '../../tokens/dependence.ts';
import { engineNoise, placeInResponse } from '../../tokens/engine-noise.ts';
import type { TokenEvidence } from '../../tokens/evidence.ts';
import { type Floor, floorOf, type Gaps, gaps, wider } from '../../tokens/floor.ts';
import { type Predict, plainOf, SamplerRows } from '../../tokens/sampler-rows.ts';
import { type Looked, tokenCheck, tokenFinding } from '../../tokens/token-check.ts';
import { ColumnFor } from '../../transforms/tokens/column-for.ts';
import { GrowsWith } from '../../transforms/tokens/grows-with.ts';
import { TokenShift } from '../../transforms/tokens/token-shift.ts';
import type { Transform } from '../../transforms/transform.ts';

const check = 'token-sampler';

export const sampler = tokenCheck({
  id: check,
  group: 'replay',
  question: [
    'Do sampler and trainer give the sampled tokens the same log-probability?',
    '采样器与训练器给采样词元的对数概率相同吗？',
  ],
  needs: [['samples.sampler_logp'], ['samples.control_logp', 'samples.logp_tempered', 'replays.new_logp']],
  causes: [
    'temperature-mismatch',
    'support-truncated',
    'weights-not-synced',
    'retokenised',
    'loss-mask-shifted',
    'positions-shifted',
    'cache-stale',
  ],
  look,
});

interface Hypothesis {
  cause: string;
  transform: Transform;
  predict: Predict;
  summary: string;
}

function look(evidence: TokenEvidence): Looked {
  const all = new SamplerRows(evidence);
  const { tokens, settings } = evidence;
  const control = floorOf(evidence);
  const engine = tokens.has('sampler_again_logp') ? floorOf(evidence, 'sampler_logp', 'sampler_again_logp') : null;
  const floor = engine?.measured ? wider(control, engine) : control;
  const note =
    all.lagging > 0 && all.rows.length === 0
      ? 'every token was sampled with older weights than it was trained with'
      : undefined;
  if (all.rows.length === 0) return { rows: 0, ...(note ? { note } : {}) };
  const asDeclared = declared(all);
  const remarks = remarksOf(evidence, floor, all);
  // What the update itself computes from the same tokens is as good: a trainer that renormalises as its sampler does agrees with it.
  const first = tokens.column('first_logp');
  const fits = (rows: number[]) =>
    [all.expected, ...(asDeclared ? [asDeclared] : []), (row: number) => first[row]].some((predict) => {
      const found = all.gaps(predict, rows);
      return found.rows >= Math.min(rows.length, limits.decidingRows.value) && !floor.among(rows).broken(found);
    });
  const parts = [...all.byIteration()];
  const bad = parts.filter(([, rows]) => rows.length >= limits.fewestRows.value && !fits(rows));
  const measured = { ...told('gap', all.gaps(all.expected)), ...told('floor', floor.own) };
  const rows = all.rows.length;
  const wrong = bad.flatMap(([, own]) => own);
  if (wrong.length < limits.noticedShare.value * rows || bad.length < limits.noticedShare.value * parts.length)
    return { rows, measured, remarks };
  const onset = bad[0][0];
  const before = all.gaps(all.expected, wrong);
  const candidates = hypotheses(all, settings.sampler_logp ?? null);
  const proved = candidates.find(({ predict }) => {
    // Rows that a hypothesis speaks of must disagree without it.
    const known = wrong.filter((row) => !Number.isNaN(predict(row)));
    const enough = known.length >= Math.min(wrong.length, limits.decidingRows.value);
    return enough && floor.holds(all.gaps(predict, known)) && floor.broken(all.gaps(all.expected, known));
  });
  const base = {
    check,
    rows: wrong.length,
    onset,
    measured: { ...told('gap', before), ...told('floor', floor.own) },
    expected: { gap_q50: figure(floor.own.q50) },
  };
  if (proved) {
    const { cause, transform, predict, summary } = proved;
    const shown = {
      quantity: "sampler's log-probability",
      target: 'as the sampler reported it',
      before: 'as the trainer gives it',
      iteration: onset,
      columns: {
        target: wrong.map((row) => all.said[row]),
        before: wrong.map(all.expected),
        after: wrong.map(predict),
      },
    };
    return {
      rows,
      measured,
      remarks,
      findings: [
        tokenFinding({
          ...base,
          cause,
          share: 1,
          transform,
          shown,
          summary: `${summary} (median ${figure(before.q50)} nats, floor ${figure(floor.own.q50)})`,
        }),
      ],
    };
  }
  const partial = conditional(all, wrong, floor, onset, base);
  if (partial) return { rows, measured, remarks, findings: [partial] };
  const harmless = engineNoise(all, wrong, floor, engine !== null);
  if (harmless) return { rows, measured, remarks: [...remarks, harmless] };
  return { rows, measured, remarks, open: { rows: wrong.length, onset } };
}

/** What the settings say that the sampler reports, where that is not the usual. */
function declared(all: SamplerRows): Predict | null {
  const { tokens, settings } = all.evidence;
  const [plain, kept] = [plainOf(all.evidence), tokens.column('kept_mass')];
  if (settings.sampler_logp === 'plain') return (row) => plain[row];
  // Over the kept tokens is as declared only where the update does not set it against all tokens.
  if (settings.sampler_logp === 'kept' && settings.old_logp === 'trainer' && !settings.importance_weight)
    return (row) => all.expected(row) - Math.log(kept[row]);
  return null;
}

function hypotheses(all: SamplerRows, reports: string | null): Hypothesis[] {
  const { tokens, responses } = all.evidence;
  const at = (name: 'reference_logp' | 'earlier_logp' | 'kept_mass') => tokens.column(name);
  const [plain, reference, earlier, kept] = [
    plainOf(all.evidence),
    at('reference_logp'),
    at('earlier_logp'),
    at('kept_mass'),
  ];
  const lag = mean(
    Float64Array.from(
      all.rows,
      (row) => all.evidence.ofResponse('trainer_version', row) - all.evidence.ofResponse('earlier_version', row),
    ).filter((value) => value > 0),
  );
  const own = "The sampler's log-probabilities are not those of the weights that it should have";
  return [
    ...[1, -1, 2, -2].map((places) => ({
      cause: 'loss-mask-shifted',
      transform: new TokenShift('logp', places),
      predict: all.shifted(places),
      summary: 'Log-probabilities of the sampler belong to other tokens of the response',
    })),
    {
      cause: 'support-truncated',
      transform: new ColumnFor('sampler_logp', 'kept_mass'),
      predict: (row: number) => all.expected(row) - Math.log(kept[row]),
      summary: `The sampler's log-probabilities are over the kept tokens only${reports === 'kept' ? ', as declared, and the ratio sets them against all tokens' : ''}`,
    },
    {
      cause: 'temperature-mismatch',
      transform: new ColumnFor('sampler_logp', 'logp_plain'),
      predict: (row: number) => plain[row],
      summary: temperatureReading(all),
    },
    {
      cause: 'weights-not-synced',
      transform: new ColumnFor('sampler_logp', 'reference_logp'),
      predict: (row: number) => reference[row],
      summary: `${own}: they never arrived, or its adapter did not`,
    },
    {
      cause: 'weights-not-synced',
      transform: new ColumnFor('sampler_logp', 'earlier_logp', Number.isNaN(lag) ? undefined : Math.round(lag)),
      predict: (row: number) => earlier[row],
      summary: own,
    },
    {
      cause: 'support-truncated',
      transform: new ColumnFor('sampler_logp', 'kept_mass'),
      predict: (row: number) => plain[row] - Math.log(kept[row]),
      summary: "The sampler's log-probabilities are at temperature 1 and over the kept tokens only",
    },
  ].filter(() => responses.rows > 0);
}

/** Whether the sampler draws at the configured temperature and reports another, or ignores it: the chosen tokens are as surprising as the entropy says, or not. */
function temperatureReading(all: SamplerRows): string {
  const { tokens } = all.evidence;
  const [tempered, entropy] = [tokens.column('logp_tempered'), tokens.column('first_entropy')];
  const excess = Float64Array.from(all.rows, (row) => -tempered[row] - entropy[row]).filter((value) =>
    Number.isFinite(value),
  );
  const lead = 'The sampler reports log-probabilities at temperature 1';
  if (excess.length < limits.decidingRows.value)
    return `${lead}, or ignores the temperature: replays.entropy would tell`;
  const average = mean(excess);
  const error = Math.sqrt(mean(excess.map((value) => (value - average) ** 2)) / excess.length);
  return Math.abs(average) <= limits.sigmas.value * error
    ? `${lead}, although it samples at the configured one; let it report what it samples from`
    : `The sampler ignores the temperature: it samples and reports at temperature 1 (its tokens are ${figure(-average)} nats less surprising than the configured temperature makes them)`;
}

type Parts = Omit<Parameters<typeof tokenFinding>[0], 'cause' | 'share' | 'summary'>;

/** Disagreement that is there for some responses only, and what they have in common. */
function conditional(
  all: SamplerRows,
  wrong: readonly number[],
  floor: Floor,
  onset: number,
  base: Parts,
): Finding | null {
  const { evidence } = all;
  const { responses, tokens } = evidence;
  const gapOf = (row: number) => all.said[row] - all.expected(row);
  const place = placeInResponse(evidence);
  const parted = responses.column('parted');
  const owner = tokens.column('response');
  const split = (struck: (row: number) => boolean) => {
    const [inside, outside] = [wrong.filter(struck), wrong.filter((row) => !struck(row))];
    const [hit, rest] = [gaps(inside.map(gapOf)), gaps(outside.map(gapOf))];
    return inside.length >= limits.fewestRows.value &&
      floor.among(inside).broken(hit) &&
      (outside.length < limits.fewestRows.value || floor.holds(rest))
      ? hit
      : null;
  };
  const retokenised = split((row) => parted[owner[row]] > 0 && place[row] + 1 >= parted[owner[row]]);
  if (retokenised)
    return tokenFinding({
      ...base,
      cause: 'retokenised',
      share: 1,
      onset,
      rows: retokenised.rows,
      summary: `The trained ids are not the sampled ones; up to where they part sampler and trainer agree, after it they do not (median ${figure(retokenised.q50)} nats)`,
    });
  const cached = responses.column('cached_tokens');
  const stale = responses.has('cached_tokens') ? split((row) => cached[owner[row]] > 0) : null;
  if (stale && wrong.some((row) => !(cached[owner[row]] > 0)))
    return tokenFinding({
      ...base,
      cause: 'cache-stale',
      share: limits.byCondition.value,
      onset,
      rows: stale.rows,
      transform: new GrowsWith('responses.cached_tokens'),
      summary: `Sampler and trainer disagree only where the sampler took tokens from its cache (${versions(evidence)}); evidence by condition, not by recomputation`,
    });
  const padding = responses.column('sampler_padding');
  const moved = responses.has('sampler_padding') ? dependence(wrong, (row) => padding[owner[row]], gapOf, floor) : null;
  if (moved)
    return tokenFinding({
      ...base,
      cause: 'positions-shifted',
      share: limits.byCondition.value,
      onset,
      rows: moved.rows,
      transform: new GrowsWith('responses.sampler_padding'),
      summary: `On the sampler's side padding moves positions or is attended to: a clean pass agrees with the trainer and not with the sampler, by more the more padding a row has (${moved.told})`,
    });
  return null;
}

function versions({ responses }: TokenEvidence): string {
  const [cached, own, taken] = [
    responses.column('cached_version'),
    responses.column('sampler_version'),
    responses.column('cached_tokens'),
  ];
  let older = 0;
  let hits = 0;
  for (let i = 0; i < cached.length; i++) if (taken[i] > 0 && ++hits && cached[i] < own[i]) older++;
  return older > 0 ? `in ${older} of ${hits} hits of older weights` : `${hits} responses`;
}

function remarksOf(evidence: TokenEvidence, floor: Floor, all: SamplerRows): Remark[] {
  const remarks: Remark[] = [];
  const { tokens, settings } = evidence;
  if (floor.measured && floor.own.q98 > limits.logp.value)
    remarks.push({
      id: 'numeric-floor',
      summary: `Two clean passes of the same tokens differ by ${figure(floor.own.q50)} nats in the median and by more than ${figure(floor.own.q98)} in 2 % of the tokens: that is the floor of every comparison here.`,
      remedy: 'Nothing needs to change; float32 in the last layer lowers it.',
    });
  const kept = tokens.column('kept_mass');
  const cut = all.rows.filter((row) => kept[row] < 1 - limits.logp.value);
  if (cut.length > limits.noticedShare.value * all.rows.length && floor.holds(all.gaps(all.expected, cut)))
    remarks.push({
      id: 'full-support-reported',
      summary: `Top-p, top-k or min-p cut ${percent(1 - mean(Float64Array.from(cut, (row) => kept[row])))} of the probability at ${percent(cut.length / all.rows.length)} of the tokens, and the log-probabilities of sampler and trainer are over all tokens: the ratio is of another distribution than the one sampled from.`,
      remedy: 'Renormalise over the kept tokens on both sides, or sample without truncation.',
    });
  if (all.lagging > 0 && settings.sampler_lag === undefined)
    remarks.push({
      id: 'sampler-lags',
      summary: `${all.lagging} of the tokens looked at were sampled with older weights than they were trained with.`,
      remedy: 'Declare settings.sampler_lag, and correct for it with an importance weight.',
    });
  return remarks;
}

const told = (name: string, { q50, q90, q98 }: Gaps) => ({
  [`${name}_q50`]: figure(q50),
  [`${name}_q90`]: figure(q90),
  [`${name}_q98`]: figure(q98),
});
