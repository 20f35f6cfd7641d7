/** Whether the actions were drawn from the distribution that scored them. Log-probabilities may agree in acting and update and yet belong to another distribution than the one that chose: then choices are likelier, or less likely, than chance allows. */
import { told } from '../../../language/language.ts';
import { oddsAgainst } from '../../../math/statistics.ts';
import { budgets } from '../../budgets.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import { type Finding, figure, type Open, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { scoresOf } from '../../evidence/temperature.ts';
import { merge, ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Distribution } from '../../pairing/scoring.ts';
import { updateScores } from '../../pairing/update-scores.ts';
import { Temperature } from '../../transforms/replay/temperature.ts';
import { type Chances, type Choice, Choices, counted, type Excess, noChances } from './choices.ts';

const check = 'drawn';

export const drawn: Check = {
  id: check,
  group: 'replay',
  question: ['Were the actions drawn from the distribution that scored them?', '动作是从给它们打分的分布中抽取的吗？'],
  needs: [['samples.logits', 'replays.logits'], ['samples.action'], ['samples.old_logp']],
  causes: ['temperature-mismatch', 'old-logp-wrong', 'stale-samples', 'mask-not-replayed', 'inputs-differ'],
  start: (run) => new DrawnPass(run),
};

class DrawnPass implements Pass {
  private readonly policies = new Map<number, Choices>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { samples } = iteration;
    const [action, old] = [samples?.column('action'), samples?.measured('old_logp')];
    // Whoever plans chooses otherwise than the policy would.
    if (!samples || !action || !old || iteration.probed || samples.list('search_values')) return;
    const lists = listsOf(iteration);
    if (!lists) return;
    const { scores, rows, sampleOf } = lists;
    const [agent, imagined] = [samples.column('agent')!, samples.column('imagined')];
    const [distribution, bare] = [new Distribution(), new Distribution()];
    const every = Math.max(1, Math.ceil(rows / budgets.drawnRows));
    for (let k = 0; k < rows; k += every) {
      const { row, sample } = sampleOf(k);
      if (iteration.leftOut?.[sample] === 1 || imagined?.[sample] === 1 || scores.count(row) < 2) continue;
      const policy = Math.max(0, this.run.policyOf(agent[sample]));
      const own = this.policies.get(policy) ?? new Choices();
      this.policies.set(policy, own);
      if (own.seen++ % own.stride !== 0) continue;
      distribution.of(scores, row, scores.temperatureOf(row), true);
      // What was scored otherwise is the replay's to explain.
      if (!(Math.abs(distribution.logp(action[sample]) - old[sample]) <= limits.logp.value)) continue;
      const free = distribution.forbids ? bare.of(scores, row, scores.temperatureOf(row), false) : null;
      own.put(iteration.number, action[sample], distribution, free);
      if (own.numbers >= budgets.drawnNumbers) own.thin();
    }
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = { rows: 0 };
    const expected = { odds: `at most e^${limits.drawnOdds.value} to 1 against chance` };
    const findings: Finding[] = [];
    const open: Open & { agents: number[] } = { rows: 0, share: 1, onset: 0, agents: [] };
    const judge = (agents: number[], name: string, chances: Chances, of: readonly Choices[]) => {
      // Likelihood says nothing of the place: what stands first in a list may be taken too often, likely or not.
      const [odds, first, final] = chances.map(oddsAgainst);
      const placed = Math.max(first, final);
      measured[`${name}.log_odds`] = figure(odds);
      measured[`${name}.place_log_odds`] = figure(placed);
      const rows = of.reduce((sum, { length }) => sum + length, 0);
      if (rows < limits.decidingRows.value || Math.max(odds, placed) < limits.drawnOdds.value) return;
      const choices = of.flatMap((own) => own.list());
      const power = odds < limits.drawnOdds.value ? Number.NaN : fitted(choices);
      if (Number.isFinite(power)) measured[`${name}.temperature`] = figure(1 / power);
      // The best and the worst choice alone, and places, are other questions than all of them: only the right distribution answers every one.
      const answers = (given: readonly Choice[], raised: number) =>
        [counted, favourite, last, ...places].every(
          (score) => oddsAgainst(excess(given, raised, score)) < limits.drawnFits.value,
        );
      const evidence = { check, measured, expected };
      const fallen = (['first', 'last'] as const).find((to) => answers(fallenTo(choices, to), 1));
      if (Number.isFinite(power) && answers(choices, power)) findings.push(finding(agents, choices, power, evidence));
      else if (fallen) findings.push(unmasked(agents, choices, fallen, evidence));
      else {
        open.rows += rows;
        open.agents.push(...agents);
        if (placed >= limits.drawnOdds.value) open.likely = ['old-logp-wrong', 'mask-not-replayed'];
      }
    };
    const together = noChances();
    for (const [policy, choices] of this.policies) {
      measured.rows = Number(measured.rows) + choices.length;
      const own = noChances();
      choices.addTo([own, together]);
      judge(this.run.agentsOf(policy), this.run.policies[policy] ?? `policy ${policy}`, own, [choices]);
    }
    // One program draws for all: what is too rare in each of them may be enough in all.
    if (this.policies.size > 1 && findings.length + open.rows === 0)
      judge([], 'all', together, [...this.policies.values()]);
    if (Number(measured.rows) < limits.decidingRows.value)
      return { status: 'not-checked', measured, expected, findings, note: told('too few rows tell', '能说明的行太少') };
    const shared = { measured, expected, findings: merge(findings) };
    if (open.rows > 0) return { ...shared, status: findings.length > 0 ? 'fail' : 'warn', open };
    return { ...shared, status: findings.length > 0 ? 'fail' : 'pass' };
  }
}

function finding(agents: number[], choices: Choice[], power: number, evidence: Finding['evidence'][number]): Finding {
  const transform = new Temperature('sampling', Number(figure(1 / power)));
  const proof = new ProofStore();
  for (const { chosen, scored, drawn } of byProbability(choices, power)) proof.step(chosen, scored, drawn);
  return {
    cause: 'temperature-mismatch',
    confidence: confidence(1, choices.length),
    agents,
    onset: choices[0].iteration,
    rows: choices.length,
    transform,
    ...proof.prove('share of choices', 'as chosen', 'as scored', transform),
    told: true,
    summary: told(
      `The actions were drawn at a temperature of ${figure(1 / power)} times the one that scored them: over ${choices.length} choices likely ones were taken ${power > 1 ? 'more' : 'less'} often than their log-probabilities say, and one temperature makes them agree.`,
      `抽取动作的温度是打分温度的 ${figure(1 / power)} 倍：在 ${choices.length} 次选择中，可能性大的动作被选中的次数比其对数概率所说的${power > 1 ? '多' : '少'}，而一个温度就能使两者一致。`,
    ),
    evidence: [evidence],
  };
}

/** The choices with the distribution of a program that draws without the mask, and takes the first or the last legal one where that is illegal. */
function fallenTo(choices: readonly Choice[], to: 'first' | 'last'): Choice[] {
  return choices.map((choice) => {
    const { logp, free } = choice;
    if (!free) return choice;
    const legal = (one: number) => one > Number.NEGATIVE_INFINITY;
    const place = to === 'first' ? logp.findIndex(legal) : logp.findLastIndex(legal);
    const illegal = free.reduce((sum, one, i) => sum + (legal(logp[i]) ? 0 : Math.exp(one)), 0);
    return {
      ...choice,
      logp: logp.map((one, i) =>
        legal(one) ? Math.log(Math.exp(free[i]) + (i === place ? illegal : 0)) : Number.NEGATIVE_INFINITY,
      ),
    };
  });
}

function unmasked(
  agents: number[],
  choices: readonly Choice[],
  to: 'first' | 'last',
  evidence: Finding['evidence'][number],
): Finding {
  const place = to === 'first' ? firstPlace : lastPlace;
  const { taken, expected } = counts(choices, place);
  const rows = choices.filter(({ free }) => free).length;
  const rounded = Math.round(expected);
  return {
    cause: 'old-logp-wrong',
    confidence: confidence(1, rows),
    agents,
    onset: choices[0].iteration,
    rows,
    told: true,
    summary: told(
      `The actions were drawn without the mask, illegal ones fell to the ${to} legal candidate, and the log-probability is that of a draw with the mask: the ${to} legal candidate was taken ${taken} times where its probabilities give ${rounded}, which such draws account for.`,
      `动作是不带掩码抽取的，非法的改为${to === 'first' ? '第一个' : '最后一个'}合法候选，而对数概率却按带掩码的分布计算：${to === 'first' ? '第一个' : '最后一个'}合法候选被选中 ${taken} 次，而其概率给出 ${rounded} 次；这样的抽取正好解释了这一差别。`,
    ),
    evidence: [evidence],
  };
}

/** How often a place was taken, and how often its probabilities say. */
function counts(choices: readonly Choice[], score: Score): { taken: number; expected: number } {
  let [taken, expected] = [0, 0];
  for (const { logp, action } of choices) {
    const marks = marksOf(logp);
    logp.forEach((one, place) => {
      const value = score(one, { ...marks, place });
      expected += value * Math.exp(one);
      if (place === action) taken += value;
    });
  }
  return { taken, expected };
}

/** The lists of acting, or those of the update before its first step, which are the same. */
function listsOf(iteration: Iteration) {
  const { samples, replays, first } = iteration;
  const acting = scoresOf(iteration, 'samples');
  if (acting.logits) return { scores: acting, rows: samples!.rows, sampleOf: (k: number) => ({ row: k, sample: k }) };
  const scores = replays && updateScores(iteration);
  if (!scores?.logits) return null;
  const sample = replays!.column('sample')!;
  return { scores, rows: first.length, sampleOf: (k: number) => ({ row: first[k], sample: sample[first[k]] }) };
}

/** The greatest and the smallest log-probability of a row, and its first and last legal place. */
interface Marks {
  best: number;
  worst: number;
  first: number;
  final: number;
}

/** What a choice counts, by its log-probability and its place beside the marks of its row. */
type Score = (logp: number, marks: Marks & { place: number }) => number;

const favourite: Score = (logp, { best }) => (logp === best ? 1 : 0);
const last: Score = (logp, { worst }) => (logp === worst ? 1 : 0);
const firstPlace: Score = (_, { place, first }) => (place === first ? 1 : 0);
const lastPlace: Score = (_, { place, final }) => (place === final ? 1 : 0);
const places = [firstPlace, lastPlace];

function marksOf(logp: Float64Array): Marks {
  const marks = { best: Number.NEGATIVE_INFINITY, worst: 0, first: -1, final: -1 };
  for (let i = 0; i < logp.length; i++) {
    const one = logp[i];
    if (one > marks.best) marks.best = one;
    if (!(one > Number.NEGATIVE_INFINITY)) continue;
    if (one < marks.worst) marks.worst = one;
    if (marks.first < 0) marks.first = i;
    marks.final = i;
  }
  return marks;
}

/** What the choices exceed their mean by, under each row's distribution raised to a power. */
function excess(choices: readonly Choice[], power: number, score: Score = counted): Excess {
  const found = { sum: 0, variance: 0, greatest: 0 };
  for (const { logp, action } of choices) {
    let [total, mean, square] = [0, 0, 0];
    const marks = { ...marksOf(logp), place: 0 };
    for (let i = 0; i < logp.length; i++) {
      const weight = Math.exp(power * logp[i]);
      if (weight === 0) continue;
      marks.place = i;
      const value = score(logp[i], marks);
      total += weight;
      mean += weight * value;
      square += weight * value * value;
    }
    mean /= total;
    marks.place = action;
    const off = score(logp[action], marks) - mean;
    found.sum += off;
    found.variance += Math.max(0, square / total - mean * mean);
    found.greatest = Math.max(found.greatest, Math.abs(off));
  }
  return found;
}

/** The power of their distributions that gives the choices as often as they were taken; NaN where none does. */
function fitted(choices: readonly Choice[]): number {
  const { reach, halvings } = budgets.temperatures;
  let [low, high]: [number, number] = [-reach, reach];
  const at = (log: number) => excess(choices, Math.exp(log)).sum;
  if (!(at(low) > 0 && at(high) < 0)) return Number.NaN;
  for (let k = 0; k < halvings; k++) {
    const middle = (low + high) / 2;
    if (at(middle) > 0) low = middle;
    else high = middle;
  }
  return Math.exp((low + high) / 2);
}

/** How often choices of like probability were taken, beside what they were scored with and what the power makes of it. */
function byProbability(choices: readonly Choice[], power: number) {
  const bins = Array.from({ length: budgets.drawnBins }, () => ({ chosen: 0, scored: 0, drawn: 0, count: 0 }));
  for (const { logp, action } of choices) {
    let total = 0;
    for (const one of logp) total += Math.exp(power * one);
    logp.forEach((one, i) => {
      const bin = bins[Math.min(bins.length - 1, Math.floor(Math.exp(one) * bins.length))];
      bin.count++;
      bin.scored += Math.exp(one);
      bin.drawn += Math.exp(power * one) / total;
      if (i === action) bin.chosen++;
    });
  }
  return bins
    .filter(({ count }) => count >= limits.fewestRows.value)
    .map(({ chosen, scored, drawn, count }) => ({
      chosen: chosen / count,
      scored: scored / count,
      drawn: drawn / count,
    }));
}
