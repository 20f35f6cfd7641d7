/** Does the trainer's own batch give what a clean pass gives? Padding, packing, dropout and a forgotten temperature show here, whatever the sampler does. */

import { told } from '../../../language/language.ts';
import { median } from '../../../math/statistics.ts';
import { type Finding, figure } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import { source } from '../../tokens/codes.ts';
import { dependence } from '../../tokens/dependence.ts';
import type { TokenEvidence } from '../../tokens/evidence.ts';
import { type Floor, floorOf, gaps } from '../../tokens/floor.ts';
import { plainOf } from '../../tokens/sampler-rows.ts';
import { type Looked, tokenCheck, tokenFinding } from '../../tokens/token-check.ts';
import { SecondPass } from '../../transforms/replay/second-pass.ts';
import { Temperature } from '../../transforms/replay/temperature.ts';
import { ColumnFor } from '../../transforms/tokens/column-for.ts';
import { GrowsWith } from '../../transforms/tokens/grows-with.ts';
import { TokenShift } from '../../transforms/tokens/token-shift.ts';
import type { Transform } from '../../transforms/transform.ts';

const check = 'token-batch';

export const batch = tokenCheck({
  id: check,
  group: 'replay',
  question: [
    "Does the trainer's batch give the tokens the log-probability that a clean pass gives them?",
    '训练批次给出的词元对数概率与干净前向一致吗？',
  ],
  needs: [
    ['samples.control_logp', 'samples.logp_tempered'],
    ['samples.logp_tempered', 'replays.new_logp'],
  ],
  causes: ['packing-leak', 'positions-shifted', 'stochastic-forward', 'temperature-mismatch', 'loss-mask-shifted'],
  look,
});

function look(evidence: TokenEvidence): Looked {
  const { tokens } = evidence;
  const floor = floorOf(evidence);
  const [usual, first, control] = [
    tokens.column('logp_tempered'),
    tokens.column('first_logp'),
    tokens.column('control_logp'),
  ];
  const clean = control.some((value) => !Number.isNaN(value)) ? control : usual;
  const sides: [string, Float64Array][] =
    clean === control
      ? [
          ['the usual batch', usual],
          ['the update', first],
        ]
      : [['the update', first]];
  let looked = 0;
  for (const [name, side] of sides) {
    const found = compare(evidence, name, side, clean, floor);
    looked = Math.max(looked, found.rows);
    if (found.findings?.length || found.open) return found;
  }
  return {
    rows: looked,
    ...(floor.measured
      ? {}
      : {
          note: told(
            'the floor is assumed: no second clean pass was recorded',
            '误差下限是假定的：没有录下第二次干净前向',
          ),
        }),
  };
}

function compare(evidence: TokenEvidence, name: string, side: Float64Array, clean: Float64Array, whole: Floor): Looked {
  const { tokens } = evidence;
  const [origin, iteration, kept] = [tokens.column('source'), tokens.column('iteration'), tokens.column('kept_mass')];
  const rows: number[] = [];
  for (let row = 0; row < tokens.rows; row++)
    if (origin[row] === source.sampled && !Number.isNaN(side[row]) && !Number.isNaN(clean[row])) rows.push(row);
  if (rows.length === 0) return { rows: 0 };
  const floor = whole.among(rows);
  const gapOf = (row: number) => side[row] - clean[row];
  const agrees = (predict: (row: number) => number) => {
    const known = rows.filter((row) => !Number.isNaN(predict(row)));
    // Rows that a hypothesis speaks of must disagree without it.
    return (
      known.length >= limits.decidingRows.value &&
      floor.holds(gaps(known.map((row) => side[row] - predict(row)))) &&
      floor.broken(gaps(known.map(gapOf)))
    );
  };
  const all = gaps(rows.map(gapOf));
  const measured = {
    gap_q50: figure(all.q50),
    gap_q90: figure(all.q90),
    floor_q50: figure(floor.own.q50),
    floor_q90: figure(floor.own.q90),
  };
  // The update may renormalise over the kept tokens; clean passes never do.
  if (!floor.broken(all) || agrees((row) => clean[row] - Math.log(kept[row]))) return { rows: rows.length, measured };
  const onset = iteration[rows.find((row) => Math.abs(gapOf(row)) > floor.row) ?? rows[0]];
  const base = { check, rows: rows.length, onset, measured, expected: { gap_q50: figure(floor.own.q50) } };
  const done = (finding: Finding): Looked => ({ rows: rows.length, measured, findings: [finding] });
  const packs = packing(evidence, rows, gapOf, floor);
  if (packs)
    return done(
      tokenFinding({
        ...base,
        cause: 'packing-leak',
        share: limits.byCondition.value,
        rows: packs.rows,
        transform: new GrowsWith('the place in the pack'),
        summary: `Packed sequences see each other: the first of each pack agrees with a clean pass, later ones do not (median ${figure(packs.first)} against ${figure(packs.later)} nats)`,
      }),
    );
  const [plain, usual] = [plainOf(evidence), tokens.column('logp_tempered')];
  const shown = (predict: (row: number) => number) => ({
    quantity: 'log-probability',
    target: `in ${name}`,
    before: 'in a clean pass',
    iteration: onset,
    columns: { target: rows.map((row) => side[row]), before: rows.map((row) => clean[row]), after: rows.map(predict) },
  });
  // At temperature 1 both are the same, and say nothing.
  const tempered = floor.broken(
    gaps(rows.map((row) => plain[row] - (Number.isNaN(usual[row]) ? clean[row] : usual[row]))),
  );
  const [fitted, heat] = [tokens.column('first_fitted'), tokens.column('first_temperature')];
  const hot = rows.filter((row) => !Number.isNaN(fitted[row]));
  const divided = (row: number) => plain[row] / temperatureOf(evidence, row);
  const temperatures: [Transform, (row: number) => number, string][] = [
    [new ColumnFor('new_logp', 'logp_plain'), (row) => plain[row], 'the trainer divides by no temperature'],
    [
      new ColumnFor('new_logp', 'logp_divided'),
      divided,
      'the trainer divides log-probabilities by the temperature, where logits have to be',
    ],
    [
      new Temperature('update', median(hot.map((row) => heat[row]))),
      (row) => fitted[row],
      `the trainer divides by another temperature (${figure(median(hot.map((row) => heat[row])))} where ${figure(temperatureOf(evidence, rows[0]))} is configured)`,
    ],
  ];
  for (const [transform, predict, summary] of tempered || hot.length > 0 ? temperatures : [])
    if (agrees(predict))
      return done(
        tokenFinding({
          ...base,
          cause: 'temperature-mismatch',
          share: 1,
          transform,
          shown: shown(predict),
          summary: `In ${name} ${summary}`,
        }),
      );
  for (const places of [1, -1, 2, -2]) {
    const shifted = new Float64Array(tokens.rows).fill(Number.NaN);
    for (const order of evidence.byResponse.values())
      for (let i = 0; i < order.length; i++) shifted[order[i]] = clean[order[i + places]] ?? Number.NaN;
    if (agrees((row) => shifted[row]))
      return done(
        tokenFinding({
          ...base,
          cause: 'loss-mask-shifted',
          share: 1,
          transform: new TokenShift('logp', places),
          shown: shown((row) => shifted[row]),
          summary: `In ${name} log-probabilities belong to other tokens of the response`,
        }),
      );
  }
  const again = noise(evidence, rows, floor);
  if (again)
    return done(
      tokenFinding({
        ...base,
        cause: 'stochastic-forward',
        share: limits.byCondition.value,
        transform: new SecondPass(),
        summary: `In ${name} a second pass over the same rows gives other log-probabilities (${again}), while clean passes agree`,
      }),
    );
  const owner = tokens.column('response');
  const [padding, position, t] = [evidence.responses.column('padding'), tokens.column('position'), tokens.column('t')];
  const moved =
    dependence(rows, (row) => padding[owner[row]], gapOf, floor) ??
    dependence(rows, (row) => Math.abs(position[row] - t[row]), gapOf, floor);
  if (moved)
    return done(
      tokenFinding({
        ...base,
        cause: 'positions-shifted',
        share: limits.byCondition.value,
        rows: moved.rows,
        transform: new GrowsWith('responses.padding'),
        summary: `On the trainer's side padding moves positions or is attended to: its batch disagrees with a clean pass, by more the more padding a row has (${moved.told})`,
      }),
    );
  const off = rows.filter((row) => Math.abs(gapOf(row)) > floor.row).length;
  return { rows: rows.length, measured, open: { rows: Math.max(off, limits.fewestRows.value), onset } };
}

/** As it was sampled, or as the settings say. */
function temperatureOf(evidence: TokenEvidence, row: number): number {
  const own = evidence.ofResponse('temperature', row);
  return Number.isNaN(own) ? (evidence.settings.temperature ?? Number.NaN) : own;
}

function packing({ tokens }: TokenEvidence, rows: readonly number[], gapOf: (row: number) => number, floor: Floor) {
  const leads = tokens.column('leads_pack');
  const [leading, following] = [1, 0].map((place) => rows.filter((row) => leads[row] === place));
  const [head, rest] = [gaps(leading.map(gapOf)), gaps(following.map(gapOf))];
  if (head.rows < limits.fewestRows.value || rest.rows < limits.fewestRows.value) return null;
  return floor.holds(head) && floor.among(following).broken(rest)
    ? { rows: rest.rows, first: head.q50, later: rest.q50 }
    : null;
}

/** A second pass over the same rows with the same weights, made on purpose: without it nothing shows that numbers are noise. */
function noise({ tokens }: TokenEvidence, rows: readonly number[], floor: Floor): string | null {
  const [first, again] = [tokens.column('first_logp'), tokens.column('first_again')];
  const second = gaps(rows.map((row) => again[row] - first[row]));
  if (second.rows >= limits.decidingRows.value)
    return floor.broken(second) ? `median ${figure(second.q50)} nats apart` : null;
  return null;
}
