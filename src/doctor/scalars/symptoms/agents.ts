/** Losses that differ between agents by orders of magnitude: one of them is trained on other rows or other rewards. Seen only across agents. */
import { told } from '../../../language/language.ts';
import { mean, median } from '../../../math/statistics.ts';
import { figure } from '../../diagnosis.ts';
import { logLimits } from '../../limits.ts';
import { type Found, found, type Symptom } from '../symptom.ts';
import type { View } from '../view.ts';

export const agentsApart: Symptom = {
  id: 'losses-differ-between-agents',
  reads: ['value_loss'],
  looksFor: ['value losses that differ between agents by orders of magnitude', '各智能体之间相差数个数量级的价值损失'],
  // One agent alone shows nothing; `acrossAgents` looks at all.
  find: () => undefined,
  suggests: () => ({
    'trained-on-other-agent': 0.25,
    'reward-bookkeeping': 0.2,
    'settings-differ': 0.1,
    'critic-context-misaligned': 0.08,
  }),
};

export interface Apart {
  found: Found;
  agent: number;
}

export function acrossAgents(views: readonly View[], name: (agent: number) => string): Apart | undefined {
  const losses = views.flatMap((view) => {
    const figures = view.owner.get('value_loss', logLimits.few.value);
    return figures && view.owner.agent >= 0 ? [{ view, figures, late: median(figures.late) }] : [];
  });
  if (losses.length < 2) return undefined;
  losses.sort((a, b) => a.late - b.late);
  const [least, greatest] = [losses[0], losses.at(-1)!];
  const size = ({ view }: (typeof losses)[number]) => {
    const { returns } = view;
    return returns ? Math.max(1e-9, mean(returns.late.map(Math.abs))) : 1;
  };
  const excused = Math.max(1, (size(greatest) / size(least)) ** 2);
  if (!(least.late > 0) || greatest.late <= logLimits.apart.value * excused * least.late) return undefined;
  // The odd one out is the one that lies apart from the middle.
  const middle = median(losses.map(({ late }) => late));
  const odd = Math.abs(Math.log(least.late / middle)) >= Math.abs(Math.log(greatest.late / middle)) ? least : greatest;
  const all = losses
    .slice()
    .sort((a, b) => a.view.owner.agent - b.view.owner.agent)
    .map(({ view, late }) => `${name(view.owner.agent)} ${figure(late)}`)
    .join(', ');
  const sentence = told(
    `the value losses of agents differ ${figure(Math.round(greatest.late / least.late))} times (${all})`,
    `各智能体的价值损失相差 ${figure(Math.round(greatest.late / least.late))} 倍（${all}）`,
  );
  const measured = Object.fromEntries(losses.map(({ view, late }) => [name(view.owner.agent), figure(late)]));
  return {
    found: found(
      odd.figures,
      odd.figures.onset(() => true),
      sentence,
      measured,
      { apart_at_most: figure(excused * logLimits.apart.value) },
    ),
    agent: odd.view.owner.agent,
  };
}
