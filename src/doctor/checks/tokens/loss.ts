/** Is the derivative of the loss by each log-probability what the settings make of advantage, ratio, clip, weight, KL and normaliser? What is exact with another term or level names it. */

import { told } from '../../../language/language.ts';
import { median } from '../../../math/statistics.ts';
import { type Finding, figure } from '../../diagnosis.ts';
import { listOf } from '../../evidence/keys.ts';
import { limits } from '../../limits.ts';
import type { TokenEvidence } from '../../tokens/evidence.ts';
import { errorsOf } from '../../tokens/floor.ts';
import { alternatives, best, columns, type Fit } from '../../tokens/loss-fit.ts';
import { batchLevel, declaredLevels, LossRows, levels, type Model } from '../../tokens/loss-rows.ts';
import { type Looked, tokenCheck, tokenFinding } from '../../tokens/token-check.ts';
import { Permutation } from '../../transforms/credit/permutation.ts';
import { Sign } from '../../transforms/credit/sign.ts';
import { LossTerm } from '../../transforms/tokens/loss-term.ts';
import { Normaliser } from '../../transforms/tokens/normaliser.ts';
import type { Transform } from '../../transforms/transform.ts';

const check = 'token-loss';

export const loss = tokenCheck({
  id: check,
  group: 'gradient',
  question: [
    'Is the derivative of the loss by each log-probability what the settings say?',
    '损失对每个对数概率的导数与设置一致吗？',
  ],
  needs: [['replays.coef'], ['replays.advantage', 'samples.advantage', 'responses.advantage']],
  causes: [
    'loss-normaliser-wrong',
    'importance-weight-missing',
    'kl-term-wrong',
    'advantage-sign-flipped',
    'advantage-shuffled',
    'loss-summed',
    'old-logp-recomputed',
  ],
  look,
});

function look(evidence: TokenEvidence): Looked {
  const { settings } = evidence;
  const all = new LossRows(evidence);
  const rows = all.rows.length;
  if (rows < limits.decidingRows.value)
    return {
      rows: 0,
      note: told('too few rows have a derivative, an advantage and a denominator', '同时有导数、优势和分母的行太少'),
    };
  const tolerance = /16|half/.test(settings.precision?.trainer ?? '') ? limits.coefHalf.value : limits.coef.value;
  const exactTo = (most: number) => (fit: Fit) =>
    fit.q50 <= most &&
    fit.q90 <= limits.coefTail.value * most &&
    Math.abs(fit.times - 1) <= limits.coefTimes.value * most;
  const exact = exactTo(tolerance);
  const model = declared(evidence, all);
  const options =
    settings.aggregation === undefined
      ? declaredLevels
      : settings.aggregation === 'constant'
        ? (['constant', 'constant of the whole'] as const)
        : [settings.aggregation];
  const own = best(
    all,
    options.map((level) => ({ ...model, level })),
  );
  const measured = {
    error_q50: figure(own.q50),
    error_q90: figure(own.q90),
    times: figure(own.times),
    level: own.model.level,
  };
  const paired = usedAdvantages(all);
  if (paired)
    return {
      rows,
      measured,
      findings: [tokenFinding({ check, rows, share: 1, onset: all.step[0].iteration, measured, ...paired })],
    };
  const tried = alternatives(all, own.model, tolerance);
  // Half precision excuses what is near, unless another loss gives the numbers to single precision: then they have it.
  const fine = exactTo(limits.coef.value);
  const sharp = !fine(own) ? tried.map((list) => best(all, list)).find(fine) : undefined;
  if (exact(own) && !sharp) return { rows, measured };
  // Equal steps make no difference between a step's own tokens and the batch's average.
  const average =
    settings.aggregation === undefined || settings.aggregation === 'token-mean'
      ? best(all, [{ ...model, level: batchLevel }])
      : null;
  if (average && (sharp ? fine : exact)(average))
    return {
      rows,
      measured: { ...measured, level: batchLevel },
      remarks: [
        {
          id: 'normaliser-of-the-batch',
          summary:
            'Every optimiser step is divided by the average count of tokens over the steps of its batch, not by its own count.',
          remedy: 'A step with long answers weighs more than one with short ones; TRL counts like this on purpose.',
        },
      ],
    };
  const found = sharp ?? tried.map((list) => best(all, list)).find(exact);
  const base = {
    check,
    rows,
    share: 1,
    onset: all.step[0].iteration,
    measured,
    expected: { error_q50: tolerance, times: 1 },
  };
  if (found) return { rows, measured, findings: named(all, own.model, found.model, base) };
  const shuffled = otherAdvantages(all, own, tolerance, base);
  if (shuffled) return { rows, measured, findings: [shuffled] };
  // One factor for all rows, that nothing counted gives, changes the step size and no direction.
  const scaled = best(all, [own.model, ...levels.map((level) => ({ ...own.model, level }))]);
  if (
    scaled.q50 <= tolerance &&
    scaled.q90 <= limits.coefTail.value * tolerance &&
    declaredLevels.includes(scaled.model.level as 'token-mean') &&
    scaled.model.level === own.model.level
  )
    return {
      rows,
      measured,
      remarks: [
        {
          id: 'loss-scaled',
          summary: `The derivative of the loss is ${figure(scaled.times)} times what the settings give, in every row alike.`,
          remedy:
            'Declare what multiplies the loss, or record steps.grad_scale; Adam does not notice a constant factor, a gradient clip does.',
        },
      ],
    };
  return { rows, measured, open: { rows, onset: all.step[0].iteration } };
}

function declared({ settings }: TokenEvidence, all: LossRows): Model {
  const inLoss =
    settings.kl &&
    settings.kl.place !== 'reward' &&
    (settings.kl.coefficient ?? 0) !== 0 &&
    all.gap.some((gap) => !Number.isNaN(gap));
  return {
    level: settings.aggregation ?? 'token-mean',
    sign: 1,
    weight: settings.importance_weight !== undefined,
    ratio: 'declared',
    clip: true,
    kl: inLoss
      ? { estimator: settings.kl!.estimator ?? 'k3', coefficient: settings.kl!.coefficient! }
      : { estimator: 'none', coefficient: 0 },
  };
}

type Base = Omit<Parameters<typeof tokenFinding>[0], 'cause' | 'summary'>;

function named(all: LossRows, own: Model, found: Model, base: Base): Finding[] {
  const shown = (transform: Transform) => ({
    transform,
    shown: {
      quantity: 'derivative of the loss',
      target: 'as the hook saw it',
      before: 'as declared',
      columns: columns(all, own, found),
    },
  });
  const out: Finding[] = [];
  if (found.level !== own.level) {
    const summed = found.level === 'sum over tokens';
    out.push(
      tokenFinding({
        ...base,
        cause: summed ? 'loss-summed' : 'loss-normaliser-wrong',
        ...shown(new Normaliser(found.level)),
        summary: summed
          ? 'The loss is summed over tokens where a mean is declared'
          : `The loss is not the declared ${own.level}`,
      }),
    );
  }
  if (found.weight !== own.weight)
    out.push(
      tokenFinding({
        ...base,
        cause: 'importance-weight-missing',
        ...shown(new LossTerm('importance-weight', 'no importance weight')),
        summary: 'The declared correction of sampler against trainer does not act',
      }),
    );
  if (found.sign !== own.sign)
    out.push(
      tokenFinding({
        ...base,
        cause: 'advantage-sign-flipped',
        ...shown(new Sign()),
        summary: 'The loss pushes against the advantages that it was given',
      }),
    );
  if (found.kl.estimator !== own.kl.estimator || Math.abs(found.kl.coefficient - own.kl.coefficient) > Number.EPSILON) {
    const is = found.kl.estimator === 'none' ? 'no KL term' : `the KL term ${found.kl.estimator} with coefficient`;
    const term = found.kl.estimator === 'none' ? new LossTerm('kl', is) : new LossTerm('kl', is, found.kl.coefficient);
    const meant = own.kl.estimator === 'none' ? 'none' : `${own.kl.estimator} with ${figure(own.kl.coefficient)}`;
    out.push(
      tokenFinding({
        ...base,
        cause: 'kl-term-wrong',
        ...shown(term),
        summary: `The KL term of the loss is not the declared one (${meant})`,
      }),
    );
  }
  if (found.ratio !== own.ratio)
    out.push(
      tokenFinding({
        ...base,
        cause: 'old-logp-recomputed',
        ...shown(new LossTerm('ratio', 'ratio 1 in every row')),
        summary: 'The ratio does not enter the loss, although the policy has moved',
      }),
    );
  return out;
}

/** The advantage that each response's derivatives imply is another response's. */
function otherAdvantages(all: LossRows, own: Fit, tolerance: number, base: Base): Finding | null {
  const { evidence } = all;
  const { uses, tokens } = evidence;
  const [token, owner] = [uses.column('token'), tokens.column('response')];
  const implied = new Map<number, number[]>();
  const given = new Map<number, number>();
  const one: Model = { ...own.model, kl: { estimator: 'none', coefficient: 0 } };
  if (own.model.kl.coefficient !== 0) return null;
  for (let i = 0; i < all.rows.length; i++) {
    const response = owner[token[all.rows[i]]];
    const slope = all.terms(one, i) * all.normaliser(one.level, i);
    if (Math.abs(all.advantage[i]) < Number.EPSILON || slope === 0) continue;
    const list = implied.get(response) ?? [];
    implied.set(response, list);
    list.push((all.coef[i] / slope) * all.advantage[i]);
    given.set(response, all.advantage[i]);
  }
  const pool = Float64Array.from([...given.values()]).sort();
  const spread = pool[pool.length - 1] - pool[0];
  if (implied.size < limits.fewestRows.value || !(spread > 0)) return null;
  let [others, same] = [0, 0];
  for (const [response, values] of implied) {
    const value = median(values);
    if (errorsOf(values.map((item) => item - value)).q90 > limits.coefTail.value * tolerance * spread) return null;
    if (Math.abs(value - given.get(response)!) <= limits.coefTimes.value * tolerance * spread) same++;
    else if (pool.some((item) => Math.abs(item - value) <= limits.coefTimes.value * tolerance * spread)) others++;
  }
  if (others < limits.unpaired.value * (implied.size - same) || others < limits.fewestRows.value) return null;
  return tokenFinding({
    ...base,
    cause: 'advantage-shuffled',
    share: (others + same) / implied.size,
    transform: new Permutation(),
    summary: `${others} of ${implied.size} responses are pushed with another response's advantage`,
  });
}

/** The advantages that entered the loss, against those of their responses: the same but for a scale, or with the sign turned, or another response's. */
function usedAdvantages(all: LossRows): { cause: string; transform: Transform; summary: string } | null {
  const { uses, tokens, responses } = all.evidence;
  const [token, owner, own] = [uses.column('token'), tokens.column('response'), responses.column('advantage')];
  const used = uses.column('advantage');
  const pairs = new Map<number, { used: number; own: number; iteration: number }>();
  for (const use of all.rows) {
    const response = owner[token[use]];
    if (!Number.isNaN(used[use]) && !Number.isNaN(own[response]))
      pairs.set(response, { used: used[use], own: own[response], iteration: responses.column('iteration')[response] });
  }
  const list = [...pairs.values()];
  const spread = errorsOf(list.map((pair) => pair.own)).q90;
  if (list.length < limits.fewestRows.value || !(spread > 0)) return null;
  const near = (a: number, b: number) => Math.abs(a - b) <= limits.tokenCredit.value * spread;
  const share = (fits: (pair: (typeof list)[number]) => boolean) => list.filter(fits).length / list.length;
  if (share((pair) => near(pair.used, pair.own)) >= limits.formulaExact.value) return null;
  if (share((pair) => near(pair.used, -pair.own)) >= limits.formulaExact.value)
    return {
      cause: 'advantage-sign-flipped',
      transform: new Sign(),
      summary: 'The advantages that enter the loss have their sign turned',
    };
  const pools = new Map<number, number[]>();
  for (const pair of list) listOf(pools, pair.iteration).push(pair.own);
  const elsewhere = share((pair) => pools.get(pair.iteration)!.some((value) => near(pair.used, value)));
  return elsewhere >= limits.formulaExact.value
    ? {
        cause: 'advantage-shuffled',
        transform: new Permutation(),
        summary: "The advantages that enter the loss are other responses'",
      }
    : null;
}
