/** From figures that differ between equal agents to causes. Rows contradict each other here or they do not: no chance is involved. */
import { figure } from '../../doctor/diagnosis.ts';
import { capital, comma, type Pair, told } from '../../language/language.ts';
import type { SymmetryFinding } from '../stage.ts';
import type { Audit } from './audit.ts';
import { list, proved, shown } from './finding.ts';
import { earlyReturns, imaginedFindings, pushFindings, subgoalFindings, unequalReturns } from './module-findings.ts';
import { type Unequal, unequal } from './unequal.ts';

interface Effective {
  name: Pair;
  /** By agent; NaN where unknown. */
  values: number[];
  tolerance: number;
  check: string;
}

/** Settings as the rows show them, by agent. */
function effective(audit: Audit): Effective[] {
  const { policyOf } = audit;
  const byPolicy = (value: (policy: number) => number) =>
    policyOf.map((policy) => (policy >= 0 ? value(policy) : Number.NaN));
  const coefficients = (pick: 'value' | 'entropy') =>
    byPolicy((policy) => {
      const own = audit.coefficients[policy];
      return own && own.residual < 1e-3 ? own[pick] : Number.NaN;
    });
  const credit = (pick: 'gamma' | 'lambda') =>
    audit.credit.map((rule) => (rule.rows >= 50 && rule.residual < 0.01 ? rule[pick] : Number.NaN));
  return [
    {
      name: ['learning rate, relative to the mean', '相对于平均值的学习率'],
      values: byPolicy((p) => audit.rates.relative[p]),
      tolerance: 1e-6,
      check: 'tensors.learning_rate',
    },
    { name: ['entropy coefficient', '熵系数'], values: coefficients('entropy'), tolerance: 0.02, check: 'steps.loss' },
    { name: ['value coefficient', '价值系数'], values: coefficients('value'), tolerance: 0.02, check: 'steps.loss' },
    { name: ['clip range', '裁剪范围'], values: clips(audit), tolerance: 0.1, check: 'steps.policy_loss' },
    { name: ['discount', '折扣'], values: credit('gamma'), tolerance: 0.002, check: 'samples.advantage' },
    { name: ['lambda', 'lambda'], values: credit('lambda'), tolerance: 0.005, check: 'samples.advantage' },
  ];
}

/** Known ranges; where one is known, one that is only known to be wider counts as its bound. */
function clips({ clips, policyOf }: Audit): number[] {
  const own = policyOf.map((policy) => (policy >= 0 ? clips[policy] : undefined));
  const known = own.map((estimate) => estimate?.clip ?? Number.NaN);
  const least = Math.min(...known.filter((clip) => !Number.isNaN(clip)));
  return known.map((clip, i) => {
    const bound = own[i]?.least ?? 0;
    return Number.isNaN(clip) && bound > 1.5 * least ? bound : clip;
  });
}

/** Declared settings that differ, then those that the rows show to differ; what moves with the order of updates is the order's doing. */
export function settingsFindings(audit: Audit, reversed: Audit | null): SymmetryFinding[] {
  const found: SymmetryFinding[] = [...declaredDifferences(audit)];
  const turned = reversed ? effective(reversed) : null;
  for (const [i, setting] of effective(audit).entries()) {
    const differs = unequal(setting.values, setting.tolerance);
    if (!differs) continue;
    const other = turned?.[i].values;
    const order = other ? followsOrder(setting.values, other) : false;
    found.push(order ? orderFinding(audit, setting, other as number[]) : settingFinding(audit, setting, differs));
  }
  return found;
}

function declaredDifferences(audit: Audit): SymmetryFinding[] {
  const learning = audit.agents.map((_, agent) => agent).filter((agent) => audit.learns[agent]);
  const names = new Set(learning.flatMap((agent) => Object.keys(audit.declared[agent])));
  const found: SymmetryFinding[] = [];
  for (const name of names) {
    // Who an agent is must differ; what it is made of must not.
    if (/(^|_)(id|name|index|seat)$/.test(name)) continue;
    const values = learning.map((agent) => JSON.stringify(audit.declared[agent][name] ?? null));
    if (new Set(values).size < 2) continue;
    const common = mostFrequent(values);
    const odd = learning.filter((_, i) => values[i] !== common);
    const own = learning.map((agent, i) => `${audit.agents[agent]} ${values[i]}`).join(comma());
    found.push(
      proved({
        cause: 'settings-differ',
        agents: odd,
        summary: told(
          `The declared setting ${name} is not the same for all agents: ${own}.`,
          `声明的设置 ${name} 并非对所有智能体都相同：${own}。`,
        ),
        evidence: { check: 'agent_settings', measured: { [name]: values.join(', ') }, expected: { [name]: common } },
      }),
    );
  }
  return found;
}

function mostFrequent(values: readonly string[]): string {
  const count = (value: string) => values.filter((other) => other === value).length;
  return [...values].sort((a, b) => count(b) - count(a))[0];
}

/** With the order turned round, the figures turn round with it, and do not stay with the agents. */
function followsOrder(fixed: readonly number[], reversed: readonly number[]): boolean {
  const apart = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0);
  const turned = [...reversed].reverse();
  const size = fixed.reduce((sum, value) => sum + Math.abs(value), 0);
  return apart(fixed, turned) < 0.05 * size && apart(fixed, reversed) > 5 * apart(fixed, turned) + 0.01 * size;
}

function orderFinding(audit: Audit, { name, values, check }: Effective, reversed: readonly number[]): SymmetryFinding {
  const [first, last] = [audit.agents[0], audit.agents[audit.agents.length - 1]];
  return proved({
    cause: 'training-order-matters',
    agents: values.map((_, agent) => agent),
    summary: told(
      `The ${name[0]} falls to each agent by its place in the order of updates: ${shown(values)} from ${first} to ${last}, and ${shown(reversed)} when the order is reversed.`,
      `${name[1]}取决于智能体在更新次序中的位置：从 ${first} 到 ${last} 为 ${shown(values)}，次序颠倒后为 ${shown(reversed)}。`,
    ),
    evidence: {
      check,
      measured: { 'in the usual order': shown(values), 'in the reversed order': shown(reversed) },
      expected: { 'in the usual order': told('equal', '相等'), 'in the reversed order': told('equal', '相等') },
    },
  });
}

function settingFinding(audit: Audit, { name, values, check }: Effective, { odd, common }: Unequal): SymmetryFinding {
  return proved({
    cause: 'settings-differ',
    agents: odd,
    summary: told(
      `The ${name[0]} that the rows show is ${figure(common)} for most agents and ${odd.map((agent) => `${figure(values[agent])} for ${audit.agents[agent]}`).join(', ')}.`,
      `由数据行得出的${name[1]}对多数智能体是 ${figure(common)}，而${odd.map((agent) => `${audit.agents[agent]} 是 ${figure(values[agent])}`).join('、')}。`,
    ),
    evidence: {
      check,
      measured: { [told(...name)]: shown(values) },
      expected: { [told(...name)]: told('equal', '相等') },
    },
    rows: audit.credit.reduce((sum, { rows }) => sum + rows, 0),
  });
}

export function updateFindings(audit: Audit): SymmetryFinding[] {
  const found: SymmetryFinding[] = [];
  // Updates that are fewer because a module returned early are a matter of the data.
  const returnedEarly = new Set(unequalReturns(audit).map(({ place }) => place));
  for (const [name, values] of Object.entries(audit.counts.last)) {
    if (!name.startsWith('updates.') || returnedEarly.has(name.slice(8))) continue;
    const own = values.map((value, agent) => (audit.learns[agent] ? value : Number.NaN));
    const differs = unequal(own, 1e-9);
    if (!differs) continue;
    const most = Math.max(...own.filter((value) => !Number.isNaN(value)));
    const fewer = own.map((_, agent) => agent).filter((agent) => own[agent] < most);
    found.push(
      proved({
        cause: 'update-count-differs',
        agents: fewer,
        summary: told(
          `After ${audit.counts.iterations} iterations ${name} is ${own.map((value, agent) => `${figure(value)} for ${audit.agents[agent]}`).join(', ')}.`,
          `${audit.counts.iterations} 次迭代后 ${name} 为：${own.map((value, agent) => `${audit.agents[agent]} ${figure(value)}`).join('、')}。`,
        ),
        evidence: {
          check: `counters ${name}`,
          measured: { [name]: shown(own) },
          expected: { [name]: told('equal', '相等') },
        },
        onset: audit.counts.onset[name],
      }),
    );
  }
  return found;
}

/** Rewards, rows, subgoals, imagination, perspective: what reached each agent's buffer. */
export function dataFindings(audit: Audit): SymmetryFinding[] {
  return [
    ...rewardFindings(audit),
    ...perspectiveFindings(audit),
    ...rowFindings(audit),
    ...pushFindings(audit),
    ...subgoalFindings(audit),
    ...imaginedFindings(audit),
  ];
}

function rewardFindings(audit: Audit): SymmetryFinding[] {
  const wrong = audit.rewards.map((own, agent) => ({ ...own, agent })).filter((own) => own.wrong > 0);
  const total = wrong.reduce((sum, own) => sum + own.wrong, 0);
  if (total < 8) return [];
  const stored = audit.rewards.map((own) => own.stored);
  const paid = audit.rewards.map((own) => own.paid);
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const conserved = Math.abs(sum(stored) - sum(paid)) < 1e-3 * (1 + Math.abs(sum(paid)));
  const [first] = wrong;
  const whose = list(
    audit,
    wrong.map(({ agent }) => agent),
  );
  const how =
    wrong.length === 1 && !Number.isNaN(first.factor) && first.factor !== 0
      ? told(
          `${whose}'s rewards are stored times ${figure(first.factor)}`,
          `${whose} 的奖励被乘以 ${figure(first.factor)} 后存储`,
        )
      : wrong.every((own) => own.dropped === own.wrong)
        ? told(`${total} rewards of ${whose} are stored as 0`, `${whose} 的 ${total} 个奖励被存为 0`)
        : conserved
          ? told(
              `rewards are stored with other agents' rows: the sum over agents is what the game paid, the agents' shares are not`,
              `奖励被存到了别的智能体的行里：总和等于游戏实付，各智能体的份额却不是`,
            )
          : told(
              `${total} stored rewards of ${whose} are not what the game paid`,
              `${whose} 有 ${total} 个所存奖励不是游戏实付的`,
            );
  return [
    proved({
      cause: 'reward-bookkeeping',
      agents: wrong.map(({ agent }) => agent),
      summary: told(`${capital(how)}.`, `${how}。`),
      evidence: {
        check: 'samples.reward against samples.env_reward',
        measured: { 'stored by agent': shown(stored), 'paid by agent': shown(paid), 'wrong rows': total },
        expected: { 'stored by agent': shown(paid), 'wrong rows': 0 },
      },
      rows: total,
      onset: Math.min(...wrong.map(({ onset }) => onset)),
    }),
  ];
}

function perspectiveFindings(audit: Audit): SymmetryFinding[] {
  const turned = audit.turns.map((own, agent) => ({ ...own, agent })).filter((own) => own.differ > 0);
  const rows = turned.reduce((sum, own) => sum + own.byOwnNumber, 0);
  if (rows < 8 || turned.some((own) => own.byOwnNumber < 0.95 * own.differ)) return [];
  return [
    proved({
      cause: 'perspective-mismatch',
      agents: turned.map(({ agent }) => agent),
      summary: told(
        `The candidate lists of the update are those of sampling, turned by the agent's number: ${rows} rows agree once each is turned back. One side is seen from the agent's own point of view and the other is not.`,
        `更新时的候选列表是采样时的列表按智能体编号轮转的结果：转回来后有 ${rows} 行一致。一边是从智能体自己的视角看的，另一边不是。`,
      ),
      evidence: {
        check: 'replays.subset against samples.subset',
        measured: {
          'lists that differ': turned.reduce((sum, own) => sum + own.differ, 0),
          'of them, once turned back': 0,
        },
        expected: { 'lists that differ': 0 },
      },
      rows,
      onset: Math.min(...turned.map(({ onset }) => onset)),
    }),
  ];
}

function rowFindings(audit: Audit): SymmetryFinding[] {
  const missing = audit.rows.map(({ decisions, stored }) => decisions - stored);
  const learning = audit.learns;
  const lost = missing.map((count, agent) => (learning[agent] ? count : 0));
  const short = lost.map((_, agent) => agent).filter((agent) => lost[agent] > 0);
  const early = earlyReturns(audit);
  if (short.reduce((sum, agent) => sum + lost[agent], 0) < 8) return early;
  // What all agents lose alike is a matter for the doctor, not of inequality.
  const shares = audit.rows.map(({ decisions, stored }, agent) => (learning[agent] ? stored / decisions : Number.NaN));
  if (!unequal(shares, 0.02)) return early;
  const counted = (apart: string) =>
    short
      .map((agent) => {
        const { stored, decisions, empty } = audit.rows[agent];
        const none = empty > 0 ? told(`, ${empty} episodes without a row`, `，${empty} 局一行也没有`) : '';
        return told(`${stored} of ${decisions} decisions`, `${decisions} 次决策中存了 ${stored} 次`) + none;
      })
      .join(apart);
  return [
    proved({
      cause: 'data-imbalance',
      agents: short,
      summary: told(
        `Rows are missing from what was stored of ${list(audit, short)}: ${counted('; ')}.`,
        `${list(audit, short)} 所存的行有缺失：${counted('；')}。`,
      ),
      evidence: {
        check: 'samples against episodes.length',
        measured: { 'stored by agent': shown(audit.rows.map(({ stored }) => stored)) },
        expected: { 'stored by agent': shown(audit.rows.map(({ decisions }) => decisions)) },
      },
      rows: short.reduce((sum, agent) => sum + lost[agent], 0),
      onset: Math.min(...short.map((agent) => audit.rows[agent].onset)),
    }),
    ...early,
  ];
}
