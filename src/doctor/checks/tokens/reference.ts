/** Is the reference the policy that training began with, and does it stay? At version 0 it must equal the policy; later it must not move with it. */
import { told } from '../../../language/language.ts';
import { figure } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import { source } from '../../tokens/codes.ts';
import type { TokenEvidence } from '../../tokens/evidence.ts';
import { floorOf, gaps } from '../../tokens/floor.ts';
import { base } from '../../tokens/sampler-rows.ts';
import { type Looked, tokenCheck, tokenFinding } from '../../tokens/token-check.ts';
import { ColumnFor } from '../../transforms/tokens/column-for.ts';

const check = 'token-reference';

export const reference = tokenCheck({
  id: check,
  group: 'gradient',
  question: [
    'Is the reference the policy that training began with, and does it stay?',
    '参考策略是否是训练开始时的策略，且保持不变？',
  ],
  needs: [['samples.reference_logp'], ['samples.control_logp', 'samples.logp_tempered', 'replays.new_logp']],
  causes: ['reference-wrong'],
  look,
});

function look(evidence: TokenEvidence): Looked {
  const { tokens, responses, uses } = evidence;
  const floor = floorOf(evidence);
  const [held, origin, owner, clean, kept] = [
    tokens.column('reference_logp'),
    tokens.column('source'),
    tokens.column('response'),
    base(evidence),
    tokens.column('kept_mass'),
  ];
  const version = responses.column('trainer_version');
  const iteration = tokens.column('iteration');
  const [start, later]: number[][] = [[], []];
  for (let row = 0; row < tokens.rows; row++) {
    if (origin[row] !== source.sampled || Number.isNaN(held[row]) || Number.isNaN(clean[row])) continue;
    const own = Number.isNaN(version[owner[row]]) ? iteration[row] : version[owner[row]];
    (own === 0 ? start : later).push(row);
  }
  const rows = start.length + later.length;
  // The reference is over the same tokens as the update, which may renormalise.
  const distance = (list: readonly number[]) => {
    const [full, cut] = [
      gaps(list.map((row) => held[row] - clean[row])),
      gaps(list.map((row) => held[row] - clean[row] + Math.log(kept[row]))),
    ];
    return cut.rows === full.rows && cut.q50 < full.q50 ? cut : full;
  };
  const [begin, since] = [distance(start), distance(later)];
  const measured = {
    ...(begin.rows > 0 ? { at_version_0_q50: figure(begin.q50) } : {}),
    ...(since.rows > 0 ? { later_q50: figure(since.q50) } : {}),
    floor_q50: figure(floor.own.q50),
  };
  if (rows === 0) return { rows: 0 };
  const base_ = { check, measured, share: 1 };
  // What strikes the trainer's batch strikes its reference, too, and is said by another check.
  const passes = [tokens.column('logp_tempered'), tokens.column('first_logp')];
  const own = passes.some((pass) => {
    const found = gaps(start.map((row) => held[row] - pass[row]));
    const struck = gaps(start.map((row) => clean[row] - pass[row] - (Math.log(kept[row]) || 0)));
    return found.rows >= limits.fewestRows.value && (!floor.broken(found) || floor.broken(struck));
  });
  if (begin.rows >= limits.decidingRows.value && floor.among(start).broken(begin) && !own)
    return {
      rows,
      measured,
      findings: [
        tokenFinding({
          ...base_,
          cause: 'reference-wrong',
          rows: begin.rows,
          onset: 0,
          summary: `At version 0 the reference is not the policy that training starts from: ${figure(begin.q50)} nats apart in the median (floor ${figure(floor.own.q50)}); another checkpoint, or the base without its adapter`,
        }),
      ],
    };
  if (since.rows < limits.decidingRows.value || !floor.holds(since)) return { rows, measured };
  // It equals the policy of every version: that says something only where the policy has moved.
  const [token, fresh, before, earlier] = [
    uses.column('token'),
    uses.column('new_logp'),
    uses.column('before'),
    tokens.column('earlier_logp'),
  ];
  const [travel, aged] = [new Map<number, number[]>(), new Map<number, number[]>()];
  const add = (to: Map<number, number[]>, at: number, gap: number) => {
    const list = to.get(at);
    if (list) list.push(gap);
    else to.set(at, [gap]);
  };
  // What a step of one iteration moves is seen from the next one on.
  for (let i = 0; i < uses.rows; i++)
    if (before[i] !== 1 && origin[token[i]] === source.sampled && !Number.isNaN(clean[token[i]]))
      add(travel, iteration[token[i]] + 1, fresh[i] - clean[token[i]]);
  for (const row of later) add(aged, iteration[row], earlier[row] - clean[row]);
  // Farther than the reference is from it, too: a policy that barely leaves the floor has left its reference as little.
  const from = Math.min(
    ...[...travel, ...aged].flatMap(([at, list]) => {
      const found = gaps(list);
      const far = found.rows >= limits.fewestRows.value && floor.broken(found);
      return far && found.q90 > limits.floorTimes.value * since.q90 ? [at] : [];
    }),
  );
  const moved = later.filter((row) => iteration[row] >= from);
  const versions = [...new Set(moved.map((row) => iteration[row]))].map((at) =>
    moved.filter((row) => iteration[row] === at),
  );
  // The same log-probability is as near as a second clean pass of the same tokens, in every iteration.
  const same = versions.every((own) => floor.only(own).holds(distance(own)));
  if (moved.length < limits.decidingRows.value || !same)
    return {
      rows,
      measured,
      note: told(
        'the reference equals the policy, which has not visibly moved',
        '参考策略等于当前策略，而后者没有明显变化',
      ),
    };
  return {
    rows,
    measured,
    findings: [
      tokenFinding({
        ...base_,
        cause: 'reference-wrong',
        rows: moved.length,
        onset: iteration[moved[0]],
        transform: new ColumnFor('reference_logp', 'new_logp'),
        summary:
          'The reference moves with the policy: in later versions, too, it gives every token the same log-probability',
      }),
    ],
  };
}
