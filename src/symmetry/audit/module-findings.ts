/** From what modules counted, logged and imagined to causes. Counters of equal agents agree, except where what each has learnt decides. */
import { figure } from '../../doctor/diagnosis.ts';
import { told } from '../../language/language.ts';
import type { SymmetryFinding } from '../stage.ts';
import type { Audit } from './audit.ts';
import { list, proved, shown } from './finding.ts';
import { unequal } from './unequal.ts';

interface UnequalReturns {
  place: string;
  agents: number[];
}

/** Early returns that some agents have and others do not. How soon imagination begins follows from how good each agent's own model is, so it is not compared. */
export function unequalReturns(audit: Audit): UnequalReturns[] {
  const found: UnequalReturns[] = [];
  for (const [name, values] of Object.entries(audit.counts.sum)) {
    const place = /^early_return\.(.+)$/.exec(name)?.[1];
    if (place === undefined || place === 'imagination') continue;
    const most = Math.max(...values);
    if (!unequal(values, 0.02) || most < 8 || Math.min(...values) > 0.5 * most) continue;
    found.push({ place, agents: values.map((_, agent) => agent).filter((i) => values[i] > 0.5 * most) });
  }
  return found;
}

export function earlyReturns(audit: Audit): SymmetryFinding[] {
  return unequalReturns(audit).map(({ place, agents }) => {
    const name = `early_return.${place}`;
    const values = audit.counts.last[name];
    return proved({
      cause: 'data-imbalance',
      agents,
      summary: told(
        `${name} was counted ${shown(values)} times, agent by agent: what it leaves out is missing for ${list(audit, agents)}.`,
        `${name} 的计数按智能体依次为 ${shown(values)}：${list(audit, agents)} 缺少因此被略过的部分。`,
      ),
      evidence: {
        check: `counters ${name}`,
        measured: { [name]: shown(values) },
        expected: { [name]: told('equal', '相等') },
      },
      onset: Math.max(0, audit.counts.onset[name]),
    });
  });
}

/** Every decision that is not held out goes to the world model's buffer once, so pushes go with decisions. */
export function pushFindings(audit: Audit): SymmetryFinding[] {
  const [pushes, rows] = [audit.counts.last['push.world_model'], audit.counts.sum['push.real']];
  if (!pushes || !rows) return [];
  const share = pushes.map((count, agent) => (audit.learns[agent] ? count / rows[agent] : Number.NaN));
  const most = Math.max(...share.filter((value) => !Number.isNaN(value)));
  const short = share.map((_, agent) => agent).filter((agent) => share[agent] < 0.85 * most);
  const missing = short.map((agent) => Math.round(most * rows[agent]) - pushes[agent]);
  if (missing.reduce((a, b) => a + b, 0) < 64) return [];
  return [
    proved({
      cause: 'data-imbalance',
      agents: short,
      summary: told(
        `The world model's buffer of ${list(audit, short)} received ${short.map((agent) => `${figure(pushes[agent])} of ${figure(rows[agent])} decisions`).join(', ')}, and those of the others ${figure(100 * most)} % of theirs.`,
        `${list(audit, short)} 的世界模型缓冲区收到了 ${short.map((agent) => `${figure(rows[agent])} 次决策中的 ${figure(pushes[agent])} 次`).join('、')}，其他智能体的收到了 ${figure(100 * most)} %。`,
      ),
      evidence: {
        check: 'counters push.world_model against push.real',
        measured: { 'push.world_model': shown(pushes), 'push.real': shown(rows) },
        expected: { 'push.world_model': told('in proportion to push.real', '与 push.real 成比例') },
      },
      rows: missing.reduce((a, b) => a + b, 0),
      onset: Math.max(0, audit.counts.onset['push.world_model'] ?? 0),
    }),
  ];
}

export function subgoalFindings(audit: Audit): SymmetryFinding[] {
  const length = audit.counts.sum['subgoal.length'];
  const expected = audit.counts.sum['subgoal.expected'];
  if (!length || !expected) return [];
  const short = length
    .map((_, agent) => agent)
    .filter((agent) => expected[agent] > 0 && length[agent] < 0.98 * expected[agent]);
  if (short.length === 0) return [];
  return [
    proved({
      cause: 'subgoal-log-incomplete',
      agents: short,
      summary: told(
        `The subgoal log of ${list(audit, short)} holds ${short.map((agent) => `${figure(length[agent])} of ${figure(expected[agent])}`).join(', ')} entries.`,
        `${list(audit, short)} 的子目标日志应有 ${short.map((agent) => `${figure(expected[agent])} 条，实有 ${figure(length[agent])} 条`).join('、')}。`,
      ),
      evidence: {
        check: 'counters subgoal.length against subgoal.expected',
        measured: { 'subgoal.length': shown(length) },
        expected: { 'subgoal.length': shown(expected) },
      },
      rows: short.reduce((sum, agent) => sum + expected[agent] - length[agent], 0),
      onset: Math.max(0, audit.counts.onset['subgoal.length'] ?? 0),
    }),
  ];
}

/** How far equal agents imagine differs by itself, so only this accuses: imagined rows at a seat in which their agent never sat, rows that are not whose the counters say, or one agent that holds nearly all. */
export function imaginedFindings(audit: Audit): SymmetryFinding[] {
  const rows = audit.imagined.map(({ imagined }) => imagined);
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const counted = audit.counts.sum['buffer.imagined'];
  // Equal totals mean that every iteration was kept.
  const comparable = counted !== undefined && sum(rows) === sum(counted);
  const moved = comparable ? sum(rows.map((count, agent) => Math.abs(count - counted[agent]))) / 2 : 0;
  const strange = sum(audit.imagined.map((own) => own.strange));
  const counts = sum(rows) > 0 ? rows : (audit.counts.sum['push.imagined'] ?? []);
  const total = sum(counts);
  const most = Math.max(0, ...counts);
  const filled = most >= 0.9 * total;
  if (counts.length < 2 || total < 64 || (strange < 8 && moved < 8 && !filled)) return [];
  const holders = filled
    ? [counts.indexOf(most)]
    : counts.map((_, agent) => agent).filter((agent) => strange === 0 || audit.imagined[agent].strange > 0);
  const held = holders
    .map((agent) => {
      const seats = audit.imagined[agent].strangeSeats.map((seat) => seat + 1).join(', ');
      return told(
        `${audit.agents[agent]} holds rows of seat ${seats}`,
        `${audit.agents[agent]} 名下有位置 ${seats} 的行`,
      );
    })
    .join(told('; ', '；'));
  const how =
    strange >= 8
      ? told(
          `${figure(strange)} of ${figure(total)} imagined rows are filed under an agent that never sat in their seat: ${held}.`,
          `${figure(total)} 个想象行中有 ${figure(strange)} 行归在从未坐过其位置的智能体名下：${held}。`,
        )
      : told(
          `${shown(counts)} imagined rows are filed under the agents, one by one, where the counters say ${counted ? shown(counted) : 'otherwise'}.`,
          `各智能体名下的想象行依次为 ${shown(counts)}，而计数为 ${counted ? shown(counted) : '另外的数'}。`,
        );
  return [
    proved({
      cause: 'imagined-misattributed',
      agents: holders,
      summary: told(
        `Imagined episodes are filed under the wrong agent: ${how}`,
        `想象的回合归到了错误的智能体名下：${how}`,
      ),
      evidence: {
        check: strange >= 8 ? 'samples.seat of imagined rows' : 'imagined rows against counters buffer.imagined',
        measured: { 'imagined by agent': shown(counts), 'rows at strange seats': strange },
        expected: {
          'imagined by agent': comparable ? shown(counted) : told('about equal', '大致相等'),
          'rows at strange seats': 0,
        },
      },
      rows: Math.max(strange, moved),
      confidence: 0.95,
    }),
  ];
}
