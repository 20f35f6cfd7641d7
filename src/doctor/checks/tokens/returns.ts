/** Is the credit of tokens what rewards and values give? Without a critic all values are 0. The reward sits on the last token that the model sampled; moved elsewhere, the pass reproduces, and that names it. */
import { told } from '../../../language/language.ts';
import { median } from '../../../math/statistics.ts';
import { figure } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import { finish, source } from '../../tokens/codes.ts';
import type { TokenEvidence } from '../../tokens/evidence.ts';
import { errorsOf } from '../../tokens/floor.ts';
import { type Looked, tokenCheck, tokenFinding } from '../../tokens/token-check.ts';
import { BaselineOver } from '../../transforms/tokens/baseline-over.ts';
import { TokenShift } from '../../transforms/tokens/token-shift.ts';
import type { Transform } from '../../transforms/transform.ts';

const check = 'token-returns';

export const tokenReturns = tokenCheck({
  id: check,
  group: 'credit',
  question: [
    'Where tokens have credit of their own, is it what rewards and values give?',
    '词元有自己的优势时，是否与奖励和价值算出的一致？',
  ],
  needs: [['samples.advantage'], ['samples.reward', 'responses.reward']],
  causes: ['reward-token-wrong', 'truncated-response-rewarded'],
  look,
});

interface Chain {
  response: number;
  reward: Float64Array;
  value: Float64Array;
  used: Float64Array;
  cut: boolean;
}

function look(evidence: TokenEvidence): Looked {
  const { run, responses } = evidence;
  const chains = chainsOf(evidence);
  const rows = chains.reduce((sum, { used }) => sum + used.length, 0);
  if (rows < limits.decidingRows.value)
    return {
      rows: 0,
      note: told('too few tokens have a reward and an advantage of their own', '有奖励和自己优势的词元太少'),
    };
  const [gamma, lambda] = [declaredOr(run.number('gamma'), 1), declaredOr(run.number('lambda'), 1)];
  const judge = (alter: (chain: Chain) => Float64Array, bootstrap = 0) => {
    const errors: number[] = [];
    const after: number[] = [];
    const target: number[] = [];
    for (const chain of chains) {
      const end = chain.cut ? bootstrap * chain.value[chain.value.length - 1] : 0;
      gae(chain, alter(chain), gamma, lambda, end).forEach((value, i) => {
        after.push(value);
        target.push(chain.used[i]);
      });
    }
    // Advantages may have been centred and scaled over the batch afterwards.
    const [slope, shift] = line(after, target);
    const scale = errorsOf(target).q80 + Number.EPSILON;
    for (const [i, value] of after.entries())
      errors.push(Math.min(Math.abs(value - target[i]), Math.abs(slope * value + shift - target[i])) / scale);
    return {
      ...errorsOf(errors),
      exact: errorsOf(errors).q95 <= limits.tokenCredit.value,
      after,
      target,
    };
  };
  const own = judge(({ reward }) => reward);
  const measured = { error_q50: figure(own.q50), error_q95: figure(own.q95), gamma, lambda };
  if (own.exact) {
    const misplaced = displaced(evidence);
    if (misplaced.rows === 0) return { rows, measured };
    return {
      rows,
      measured,
      findings: [
        tokenFinding({
          cause: 'reward-token-wrong',
          check,
          rows: misplaced.rows,
          share: 1,
          onset: misplaced.onset,
          summary: `The reward of ${misplaced.rows} responses sits on a token that the model did not sample last (padding, a tool's token or one before the end)`,
          transform: new TokenShift('reward', null),
        }),
      ],
    };
  }
  const at =
    (places: number) =>
    ({ reward }: Chain) => {
      const out = new Float64Array(reward.length);
      reward.forEach((value, i) => {
        if (value !== 0 && out[i + places] !== undefined) out[i + places] += value;
      });
      return out;
    };
  const attempts: [string, Transform, string, ReturnType<typeof judge>][] = [
    ...[-1, 1, -2].map((places): [string, Transform, string, ReturnType<typeof judge>] => [
      'reward-token-wrong',
      new TokenShift('reward', places),
      'The credit pass finds the reward on another token than the last sampled one',
      judge(at(places)),
    ]),
    [
      'truncated-response-rewarded',
      new BaselineOver('untruncated'),
      'Answers cut by the length limit bootstrap from the critic, where they should end with 0',
      judge(({ reward }) => reward, 1),
    ],
  ];
  const iteration = responses.column('iteration');
  const onset = iteration[chains[0].response];
  for (const [cause, transform, summary, found] of attempts)
    if (found.exact)
      return {
        rows,
        measured,
        findings: [
          tokenFinding({
            cause,
            check,
            rows,
            share: 1,
            onset,
            transform,
            summary,
            measured,
            shown: {
              quantity: 'advantage',
              target: 'as the trainer has it',
              before: 'with the reward on the last sampled token',
              columns: { target: found.target, before: own.after, after: found.after },
            },
          }),
        ],
      };
  return { rows, measured, open: { rows: rows, onset } };
}

const declaredOr = (value: number, otherwise: number) => (Number.isNaN(value) ? otherwise : value);

function chainsOf(evidence: TokenEvidence): Chain[] {
  const { tokens, responses } = evidence;
  const [reward, value, used, origin, flag] = (['reward', 'value', 'advantage', 'source', 'trained'] as const).map(
    (name) => tokens.column(name),
  );
  const critic = tokens.has('value');
  const chains: Chain[] = [];
  for (const [response, rows] of evidence.byResponse) {
    const own = [...rows].filter(
      (row) =>
        (Number.isNaN(flag[row]) ? origin[row] === source.sampled : flag[row] === 1) &&
        !(critic && Number.isNaN(value[row])) &&
        !Number.isNaN(used[row]),
    );
    if (own.length < 2) continue;
    const whole = responses.column('reward')[response];
    const known = own.some((row) => !Number.isNaN(reward[row]));
    chains.push({
      response,
      cut: responses.column('finish')[response] === finish.length,
      // Where only the response's reward is known, it is paid at its last token.
      reward: Float64Array.from(own, (row, i) =>
        known ? (Number.isNaN(reward[row]) ? 0 : reward[row]) : i === own.length - 1 ? whole : 0,
      ),
      value: Float64Array.from(own, (row) => (critic ? value[row] : 0)),
      used: Float64Array.from(own, (row) => used[row]),
    });
  }
  return chains.filter(({ reward: own }) => own.every((amount) => Number.isFinite(amount)));
}

function gae({ value }: Chain, reward: Float64Array, gamma: number, lambda: number, end: number): Float64Array {
  const out = new Float64Array(value.length);
  let [next, carried] = [end, 0];
  for (let i = value.length - 1; i >= 0; i--) {
    carried = reward[i] + gamma * next - value[i] + gamma * lambda * carried;
    out[i] = carried;
    next = value[i];
  }
  return out;
}

/** Least squares through medians: slope and shift from `x` to `y`. */
function line(x: readonly number[], y: readonly number[]): [number, number] {
  const [mx, my] = [median(x), median(y)];
  let [xy, xx] = [0, 0];
  x.forEach((value, i) => {
    xy += (value - mx) * (y[i] - my);
    xx += (value - mx) ** 2;
  });
  const slope = xx > 0 ? xy / xx : 1;
  return [slope, my - slope * mx];
}

/** Responses whose reward, the KL penalty taken out, lies on a token other than the last sampled one. */
function displaced({ tokens, responses, settings, byResponse }: TokenEvidence): { rows: number; onset: number } {
  const [reward, origin, old, reference] = (['reward', 'source', 'old_logp', 'reference_logp'] as const).map((name) =>
    tokens.column(name),
  );
  const { place, estimator = 'k1', coefficient = 0 } = settings.kl ?? {};
  const penalised = place === 'reward' && coefficient !== 0;
  if (penalised && estimator !== 'k1') return { rows: 0, onset: 0 };
  const paidAt = (row: number) => reward[row] + (penalised ? coefficient * (old[row] - reference[row]) : 0);
  let rows = 0;
  let onset = 0;
  for (const [response, own] of byResponse) {
    const last = [...own].reverse().find((row) => origin[row] === source.sampled);
    const largest = Math.max(...[...own].map((row) => Math.abs(paidAt(row)) || 0));
    const paid = [...own].filter((row) => Math.abs(paidAt(row)) > limits.leftOver.value * largest);
    if (!(largest > limits.sameTokenReward.value) || paid.length !== 1 || last === undefined || paid[0] === last)
      continue;
    if (rows++ === 0) onset = responses.column('iteration')[response];
  }
  return { rows: rows >= limits.fewestRows.value ? rows : 0, onset };
}
