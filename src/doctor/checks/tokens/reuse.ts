/** Are the responses those of this iteration, and is the denominator of the ratio what it was before the first step? */
import { type Finding, figure } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import { source } from '../../tokens/codes.ts';
import type { TokenEvidence } from '../../tokens/evidence.ts';
import { floorOf, gaps } from '../../tokens/floor.ts';
import { type Looked, tokenCheck, tokenFinding } from '../../tokens/token-check.ts';
import { NewForOld } from '../../transforms/rows/new-for-old.ts';
import { RowsOfIteration } from '../../transforms/rows/rows-of-iteration.ts';
import { TokenShift } from '../../transforms/tokens/token-shift.ts';

const check = 'token-reuse';

export const reuse = tokenCheck({
  id: check,
  group: 'replay',
  question: [
    'Is every response new, and the denominator of its ratio kept from before the first step?',
    '每个回答都是新的吗？比率的分母是否保留自第一步之前？',
  ],
  needs: [['samples.token', 'replays.old_logp', 'samples.old_logp']],
  causes: ['stale-samples', 'old-logp-recomputed', 'loss-mask-shifted'],
  look,
});

function look(evidence: TokenEvidence): Looked {
  const findings: Finding[] = [];
  const { responses, settings } = evidence;
  const [repeats, iteration, made, trained, chance] = (
    ['repeats', 'iteration', 'sampler_version', 'trainer_version', 'answer_logp'] as const
  ).map((name) => responses.column(name));
  const again: number[] = [];
  const late: number[] = [];
  const sizes = new Map<number, { all: number; again: number }>();
  let [later, rare, rareAgain] = [0, 0, 0];
  const first = responses.rows > 0 ? iteration[0] : 0;
  for (let i = 0; i < responses.rows; i++) {
    const size = sizes.get(iteration[i]) ?? { all: 0, again: 0 };
    sizes.set(iteration[i], size);
    size.all++;
    if (iteration[i] > first) later++;
    // Where the weights have not moved an answer may come again by chance, the more likely it is; one that is rarer than one in all responses does not.
    if (iteration[i] > first && !(Math.exp(chance[i]) * responses.rows > limits.leftOver.value)) {
      rare++;
      if (repeats[i] > 0) rareAgain++;
    }
    if (repeats[i] > 0) {
      again.push(i);
      size.again++;
    } else if (settings.sampler_lag !== undefined && trained[i] - made[i] > settings.sampler_lag) late.push(i);
  }
  const measured = { responses: responses.rows, seen_before: again.length, later_than_declared: late.length };
  const whole = [...sizes.values()].some(
    (size) => size.all >= limits.fewestRows.value && size.again >= limits.formulaExact.value * size.all,
  );
  if (whole || (rareAgain >= 2 && rareAgain > limits.leftOver.value * rare))
    findings.push(
      tokenFinding({
        cause: 'stale-samples',
        check,
        rows: again.length,
        share: 1,
        onset: iteration[again[0]],
        transform: new RowsOfIteration(iteration[again[0]] - (repeats[again[0]] - 1)),
        summary: `${again.length} of ${later} responses after the first iteration are responses of an earlier one, token by token and number by number`,
        measured,
      }),
    );
  else if (late.length > limits.noticedShare.value * responses.rows && late.length >= limits.fewestRows.value)
    findings.push(
      tokenFinding({
        cause: 'stale-samples',
        check,
        rows: late.length,
        share: 1,
        onset: iteration[late[0]],
        summary: `${late.length} responses were sampled more than ${settings.sampler_lag} versions before they were trained on, which is what the settings allow`,
        measured,
      }),
    );
  const recomputed = denominators(evidence) ?? elsewhere(evidence);
  if (recomputed) findings.push(recomputed);
  return { rows: responses.rows, measured, findings };
}

/** old_logp follows the policy from step to step. */
function denominators(evidence: TokenEvidence): Finding | null {
  const { uses, tokens, settings } = evidence;
  if (settings.old_logp === 'step') return null;
  const floor = floorOf(evidence);
  const [fresh, used, token, before] = [
    uses.column('new_logp'),
    uses.column('old_logp'),
    uses.column('token'),
    uses.column('before'),
  ];
  const [origin, first] = [tokens.column('source'), tokens.column('first_logp')];
  const moved: number[] = [];
  const gap: number[] = [];
  for (let i = 0; i < uses.rows; i++) {
    if (before[i] === 1 || Number.isNaN(used[i]) || origin[token[i]] !== source.sampled) continue;
    gap.push(fresh[i] - used[i]);
    if (!Number.isNaN(first[token[i]])) moved.push(fresh[i] - first[token[i]]);
  }
  const [own, travel] = [gaps(gap), gaps(moved)];
  if (own.rows < limits.decidingRows.value || travel.rows < limits.decidingRows.value) return null;
  // The policy must have moved beyond the floor, and the ratio must not show it.
  if (!floor.broken(travel) || own.q98 > Math.max(limits.logp.value, limits.undone.value * travel.q50)) return null;
  return tokenFinding({
    cause: 'old-logp-recomputed',
    check,
    rows: own.rows,
    share: 1,
    onset: 0,
    transform: new NewForOld(),
    summary: `The ratio is 1 in every step, although new_logp moved by ${figure(travel.q50)} nats in the median since the first one`,
    measured: { ratio_gap_q98: figure(own.q98), moved_q50: figure(travel.q50) },
  });
}

/** The denominators of a response are its own, some places off. */
function elsewhere(evidence: TokenEvidence): Finding | null {
  const { tokens, settings, byResponse } = evidence;
  const [old, said, first, origin] = (['old_logp', 'sampler_logp', 'first_logp', 'source'] as const).map((name) =>
    tokens.column(name),
  );
  const floor = floorOf(evidence);
  const sides = { sampler: [said], trainer: [first], step: [], undeclared: [said, first] };
  const places = [1, -1, 2, -2];
  for (const side of sides[settings.old_logp ?? 'undeclared']) {
    const [own, ...moved] = [0, ...places].map((by) => {
      const gap = new Float64Array(tokens.rows).fill(Number.NaN);
      for (const rows of byResponse.values())
        rows.forEach((row, i) => {
          if (origin[row] === source.sampled) gap[row] = old[row] - (side[rows[i + by]] ?? Number.NaN);
        });
      return gap;
    });
    if (gaps(own).rows < limits.decidingRows.value || !floor.broken(gaps(own))) continue;
    for (const [i, gap] of moved.entries()) {
      const found = gaps(gap);
      if (found.rows < limits.decidingRows.value || !floor.holds(found)) continue;
      return tokenFinding({
        cause: 'loss-mask-shifted',
        check,
        rows: gaps(own).rows,
        share: 1,
        onset: 0,
        transform: new TokenShift('logp', -places[i]),
        summary: `The denominators of the ratio belong to other tokens of the response (median ${figure(gaps(own).q50)} nats, floor ${figure(floor.own.q50)})`,
      });
    }
  }
  return null;
}
