/** What an audit shows as it is, agent by agent: settings, counters, and the sizes of buffers over time. Nothing is divided by anything here. */
import { figure } from '../../doctor/diagnosis.ts';
import { told } from '../../language/language.ts';
import type { Band } from '../../sweep/compare.ts';
import type { StageChart, StageTable } from '../stage.ts';
import type { Audit } from './audit.ts';

/** A setting that lies in others is called by its way: `hop.worldModel.batch`. */
function flat(settings: Record<string, unknown>, before = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(settings))
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      for (const [inner, text] of flat(value as Record<string, unknown>, `${before}${name}.`)) found.set(inner, text);
    else found.set(`${before}${name}`, typeof value === 'number' ? String(figure(value)) : JSON.stringify(value));
  return found;
}

const known = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? '' : String(figure(value)));

/** Declared settings, learning rates by module as the optimiser had them, and what the rows show; a line without any figure is left out. */
export function settingsTable(audit: Audit): StageTable {
  const { agents, policyOf, rates, coefficients, clips, credit } = audit;
  const rows: string[][] = [];
  const add = (name: string, of: (agent: number, policy: number) => string) => {
    const cells = agents.map((_, agent) => of(agent, policyOf[agent]));
    if (cells.some((cell) => cell !== '')) rows.push([name, ...cells]);
  };
  const declared = audit.declared.map((own) => flat(own));
  for (const name of new Set(declared.flatMap((own) => [...own.keys()])))
    add(name, (agent) => declared[agent].get(name) ?? '');
  for (const [role, { first, last }] of Object.entries(rates.byRole))
    add(told(`learning rate of ${role}, as used`, `${role} 实际使用的学习率`), (_, policy) =>
      first[policy] === last[policy] ? known(first[policy]) : `${known(first[policy])} … ${known(last[policy])}`,
    );
  const seen = (en: string, zh: string, of: (agent: number, policy: number) => number | undefined) =>
    add(told(`${en}, as the rows show it`, `由数据行得出的${zh}`), (agent, policy) => known(of(agent, policy)));
  const fitted = (policy: number) => (coefficients[policy]?.residual < 1e-3 ? coefficients[policy] : undefined);
  seen('discount', '折扣', (agent) => (credit[agent]?.rows >= 50 ? credit[agent].gamma : undefined));
  seen('lambda', ' lambda', (agent) => (credit[agent]?.rows >= 50 ? credit[agent].lambda : undefined));
  seen('entropy coefficient', '熵系数', (_, policy) => fitted(policy)?.entropy);
  seen('value coefficient', '价值系数', (_, policy) => fitted(policy)?.value);
  seen('clip range', '裁剪范围', (_, policy) => clips[policy]?.clip);
  return { title: told('Settings by agent', '各智能体的设置'), head: [told('setting', '设置'), ...agents], rows };
}

/** Every counter at its last iteration. */
export function counterTable({ agents, counts }: Audit): StageTable {
  const rows = Object.keys(counts.last)
    .sort()
    .map((name) => [name, ...agents.map((_, agent) => known(counts.last[name][agent]))]);
  const title = told(`Counters after ${counts.iterations} iterations`, `${counts.iterations} 次迭代后的计数`);
  return { title, head: [told('counter', '计数'), ...agents], rows };
}

/** One chart for each buffer, one line for each agent. */
export function bufferCharts({ agents, counts }: Audit): StageChart[] {
  return Object.entries(counts.sizes).map(([name, { iterations, values }]) => ({
    kind: 'curves',
    title: name,
    note: told('Rows in the buffer of each agent, iteration by iteration.', '每次迭代时各智能体缓冲区中的行数。'),
    x: told('iteration', '迭代'),
    y: told('rows', '行数'),
    bands: agents.flatMap((label, agent): Band[] => {
      const at = iterations.map((_, i) => i).filter((i) => !Number.isNaN(values[agent][i]));
      const middle = at.map((i) => values[agent][i]);
      return at.length > 0 ? [{ label, steps: at.map((i) => iterations[i]), middle, low: middle, high: middle }] : [];
    }),
  }));
}
