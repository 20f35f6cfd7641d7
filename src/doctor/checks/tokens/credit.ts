/** Are the advantages what the declared baseline and scale make of the rewards? Where they are not, the members, rewards or cut answers that reproduce every one of them name the cause. */
import { told } from '../../../language/language.ts';
import { type Finding, figure, type Remark } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import { bestRule, type Part, type Predict, rulesOf, spreadOf } from '../../tokens/advantage-fit.ts';
import { advantagesOf, groupings, numbered, type Rule } from '../../tokens/advantages.ts';
import { finish } from '../../tokens/codes.ts';
import type { TokenEvidence } from '../../tokens/evidence.ts';
import { type Looked, tokenCheck, tokenFinding } from '../../tokens/token-check.ts';
import { Permutation } from '../../transforms/credit/permutation.ts';
import { Sign } from '../../transforms/credit/sign.ts';
import { BaselineOver } from '../../transforms/tokens/baseline-over.ts';
import type { Transform } from '../../transforms/transform.ts';

const check = 'token-credit';

export const credit = tokenCheck({
  id: check,
  group: 'credit',
  question: [
    'Are the advantages what the declared baseline makes of the rewards?',
    '优势是否是所声明的基线由奖励算出的？',
  ],
  needs: [['responses.reward'], ['responses.advantage'], ['responses.group']],
  causes: [
    'truncated-response-rewarded',
    'advantage-group-mixed',
    'baseline-includes-masked',
    'advantage-shuffled',
    'advantage-sign-flipped',
    'reward-misordered',
  ],
  look,
});

interface Attempt {
  cause: string;
  transform: Transform;
  summary: string;
  predict: Predict;
}

function look(evidence: TokenEvidence): Looked {
  const { settings } = evidence;
  if (settings.baseline === 'critic')
    return {
      rows: 0,
      note: told('a critic gives the baseline: token-returns looks at it', '基线由评论家给出：由 token-returns 检查'),
    };
  const parts = partsOf(evidence);
  const rows = parts.reduce((sum, { trained }) => sum + trained.filter((value) => value === 1).length, 0);
  if (rows < limits.decidingRows.value)
    return {
      rows: 0,
      note: told(
        'too few responses that are trained have a reward, an advantage and a group',
        '参与训练且同时有奖励、优势和组的回答太少',
      ),
    };
  const members = settings.baseline_members;
  const rules = rulesOf(evidence);
  const own = (part: Part, rule: Rule) => advantagesOf(part, rule, groupings.own(part));
  const best = bestRule(parts, rules, own);
  const measured = {
    error_q50: figure(best.q50),
    error_q95: figure(best.q95),
    baseline: best.rule.baseline,
    scale: best.rule.scale,
  };
  const remarks: Remark[] = [];
  if (best.exact) {
    const masked = parts.some(({ trained }) => trained.includes(0));
    if (members === undefined && best.rule.members === 'all' && masked)
      remarks.push({
        id: 'baseline-members-undeclared',
        summary:
          'Responses that are not trained enter the baseline of the others, a common choice that the settings do not declare.',
        remedy: 'Declare settings.baseline_members as all, or leave them out of mean and deviation.',
      });
    const others = { ...best.rule, members: members === 'all' ? ('trained' as const) : ('all' as const) };
    const untold = members && masked && bestRule(parts, [others], own).exact;
    return {
      rows,
      measured,
      remarks,
      ...(untold
        ? {
            note: told(
              'which responses enter the baseline cannot be told: with and without the masked ones the advantages are the same',
              '无法判断哪些回答进入基线：计入或不计入被屏蔽的回答，优势都相同',
            ),
          }
        : {}),
    };
  }
  const onset = best.onset;
  for (const attempt of attempts(evidence, best.rule)) {
    const found = bestRule(
      parts,
      rules.map((rule) =>
        attempt.cause === 'baseline-includes-masked'
          ? { ...rule, members: members === 'all' ? ('trained' as const) : ('all' as const) }
          : rule,
      ),
      attempt.predict,
    );
    if (!found.exact) continue;
    const columns = { target: [] as number[], before: [] as number[], after: [] as number[] };
    for (const part of parts) {
      columns.target.push(...part.used);
      columns.before.push(...own(part, best.rule));
      columns.after.push(...attempt.predict(part, found.rule));
    }
    const finding = tokenFinding({
      cause: attempt.cause,
      check,
      rows,
      share: 1,
      onset,
      transform: attempt.transform,
      summary: attempt.summary,
      measured,
      expected: { error_q50: limits.credit.value },
      shown: {
        quantity: 'advantage',
        target: 'as the trainer has it',
        before: 'as the declared baseline gives it',
        columns,
      },
    });
    if (attempt.cause === 'baseline-includes-masked' && members === undefined)
      return {
        rows,
        measured,
        remarks: [
          { id: 'baseline-members-undeclared', summary: finding.summary, remedy: 'Declare settings.baseline_members.' },
        ],
      };
    return { rows, measured, findings: [finding] };
  }
  const shuffled = shuffle(parts, best.rule, own, { check, rows, onset, measured });
  if (shuffled) return { rows, measured, findings: [shuffled] };
  return { rows, measured, open: { rows: Math.max(1, Math.round(rows * best.share)), onset } };
}

function partsOf({ responses, settings }: TokenEvidence): Part[] {
  const column = (name: Parameters<typeof responses.column>[0]) => responses.column(name);
  const [iteration, reward, used, group, graded, ended, prompt, length, trained, coefs] = (
    ['iteration', 'reward', 'advantage', 'group', 'graded', 'finish', 'prompt', 'length', 'trained', 'coefs'] as const
  ).map(column);
  const lists = new Map<number, number[]>();
  for (let i = 0; i < responses.rows; i++) {
    if (Number.isNaN(reward[i]) || Number.isNaN(used[i]) || Number.isNaN(group[i])) continue;
    const list = lists.get(iteration[i]);
    if (list) list.push(i);
    else lists.set(iteration[i], [i]);
  }
  const counted = trained.some((value) => value > 0);
  return [...lists].map(([number, rows]) => {
    const pick = (values: Float64Array) => Float64Array.from(rows, (row) => values[row]);
    // What is masked is told by the mask; without one, by a length of 0, or by what the settings do with cut answers.
    const isTrained = (row: number) =>
      counted
        ? trained[row] > 0 || coefs[row] > 0
        : !(length[row] === 0) && !(settings.truncated === 'mask' && ended[row] === finish.length);
    return {
      iteration: number,
      rewards: pick(reward),
      used: pick(used),
      group: pick(group),
      graded: pick(graded),
      prompt: pick(prompt),
      cut: Uint8Array.from(rows, (row) => (ended[row] === finish.length ? 1 : 0)),
      trained: Uint8Array.from(rows, (row) => (isTrained(row) ? 1 : 0)),
    };
  });
}

function attempts(evidence: TokenEvidence, own: Rule): Attempt[] {
  const { responses, settings } = evidence;
  const over = (key: string): Attempt => ({
    cause: 'advantage-group-mixed',
    transform: new BaselineOver(key),
    summary: "Every advantage is reproduced with other members than the prompt's own",
    predict: (part, rule) => advantagesOf(part, rule, groupings[key](part)),
  });
  const withRewards =
    (rewards: (part: Part) => Float64Array): Predict =>
    (part, rule) =>
      advantagesOf({ ...part, rewards: rewards(part) }, rule, groupings.own(part));
  const swapped = (value: (part: Part, i: number) => number) =>
    withRewards((part) => part.rewards.map((reward, i) => (part.cut[i] === 1 ? value(part, i) : reward)));
  const cut = responses.column('finish').some((value) => value === finish.length);
  const truncated = (transform: string, predict: Predict): Attempt => ({
    cause: 'truncated-response-rewarded',
    transform: new BaselineOver(transform),
    summary: `Answers cut by the length limit are not treated as declared (${settings.truncated ?? 'as-is'})`,
    predict,
  });
  return [
    ...(cut
      ? [
          truncated(
            'zeroed',
            swapped(() => 0),
          ),
          ...(responses.has('graded')
            ? [
                truncated(
                  'untruncated',
                  swapped((part, i) => part.graded[i]),
                ),
              ]
            : []),
        ]
      : []),
    ...(responses.has('graded')
      ? [
          {
            cause: 'reward-misordered',
            transform: new BaselineOver('graded'),
            summary: 'Every advantage is reproduced from the rewards that the grader gave, and not from those recorded',
            predict: withRewards((part) => part.graded),
          },
        ]
      : []),
    {
      cause: 'baseline-includes-masked',
      transform: new BaselineOver(own.members === 'all' ? 'trained' : 'masked'),
      summary:
        own.members === 'all'
          ? 'Only trained responses enter mean or deviation, although all are declared to'
          : 'Responses that are not trained enter mean or deviation',
      predict: (part, rule) => advantagesOf(part, rule, groupings.own(part)),
    },
    over('batch'),
    over('neighbours'),
    over('late'),
    over('merged'),
    over('interleaved'),
    ...(responses.has('prompt')
      ? [
          {
            ...over('own'),
            transform: new BaselineOver('prompt'),
            predict: (part: Part, rule: Rule) => advantagesOf(part, rule, numbered(part.prompt)),
          },
        ]
      : []),
    {
      ...over('own'),
      transform: new BaselineOver('first'),
      predict: (part, rule) => advantagesOf(part, rule, groupings.own(part), true),
    },
    {
      cause: 'advantage-sign-flipped',
      transform: new Sign(),
      summary: 'Every advantage has its sign turned',
      predict: (part, rule) => advantagesOf(part, rule, groupings.own(part)).map((value) => -value),
    },
    // A mean over the group with a deviation over the batch, and the reverse.
    ...(['group-deviation', 'batch-deviation', 'none'] as const)
      .filter((scale) => scale !== own.scale && settings.scale !== undefined)
      .map(
        (scale): Attempt => ({
          cause: 'advantage-group-mixed',
          transform: new BaselineOver(scale === 'batch-deviation' ? 'batch' : scale),
          summary: `The scale of the advantages is over other members than declared (${scale} in place of ${own.scale})`,
          predict: (part, rule) => advantagesOf(part, { ...rule, scale }, groupings.own(part)),
        }),
      ),
    ...(['group-mean', 'batch-mean', 'leave-one-out', 'none'] as const)
      .filter((baseline) => baseline !== own.baseline && settings.baseline !== undefined)
      .map(
        (baseline): Attempt => ({
          cause: 'advantage-group-mixed',
          transform: new BaselineOver(baseline === 'batch-mean' ? 'batch' : baseline),
          summary: `The baseline is over other members than declared (${baseline} in place of ${own.baseline})`,
          predict: (part, rule) => advantagesOf(part, { ...rule, baseline }, groupings.own(part)),
        }),
      ),
  ];
}

/** The same advantages, in another order. */
function shuffle(
  parts: readonly Part[],
  rule: Rule,
  own: Predict,
  base: Pick<Parameters<typeof tokenFinding>[0], 'check' | 'rows' | 'onset' | 'measured'>,
): Finding | null {
  const spread = spreadOf(parts);
  let [same, all] = [0, 0];
  for (const part of parts) {
    const [a, b] = [Float64Array.from(own(part, rule)).sort(), Float64Array.from(part.used).sort()];
    for (let i = 0; i < a.length; i++) if (Math.abs(a[i] - b[i]) <= limits.tokenCredit.value * spread) same++;
    all += a.length;
  }
  if (same < limits.formulaExact.value * all) return null;
  return tokenFinding({
    ...base,
    cause: 'advantage-shuffled',
    share: 1,
    transform: new Permutation(),
    summary: 'The advantages of every batch are those that its rewards give, in another order',
  });
}
