/** An investigation as its program writes it, with every kind of chart, cut off after so many stages. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type InvestigationState, inItsLanguage } from '../../src/cli/investigation.ts';
import { inLanguage, told } from '../../src/language/language.ts';
import { emptyReport, type StageId, type StageReport, stageIds, stageTitle } from '../../src/symmetry/stage.ts';
import { explain } from '../../src/symmetry/stages/explanation.ts';

const names = ['player_1', 'player_2', '<img src=x onerror=window.hacked=1>'];
const command = 'trueline symmetry stag-hunt --quick';
const steps = Array.from({ length: 20 }, (_, i) => 500 * (i + 1));
const values = (level: number) => Array.from({ length: 6 }, (_, i) => level + 0.1 * Math.sin(7 * i + level));

function report(id: StageId, charts: StageReport['charts']): StageReport {
  return {
    ...emptyReport(id, command),
    status: 'clear',
    did: told('Six seeds were trained.', '训练了六个种子。'),
    found: told(`Nothing was found by ${id}.`, `${id} 没有发现什么。`),
    power: told('A difference of 0.2 would have been seen.', '0.2 的差异会被看出。'),
    tests: [
      {
        name: told("Page's trend along the agents", 'Page 趋势'),
        statistic: 12.5,
        p: 0.31,
        level: 0.001,
        significant: false,
      },
    ],
    figures: { seeds: 6, 'mean return': 1.25 },
    charts,
    seconds: 3,
  };
}

const madeStages = (): StageReport[] => [
  report('phenomenon', [
    {
      kind: 'curves',
      title: told('Return of each agent over training', '训练中各智能体的回报'),
      note: told('Interquartile mean over seeds.', '对种子取四分位均值。'),
      bands: names.map((label, i) => ({
        label,
        steps,
        middle: steps.map((at) => 1 + i / 5 + at / 1e4),
        // The first place has no interval yet.
        low: steps.map((at, k) => (k === 0 ? Number.NaN : 0.9 + i / 5 + at / 1e4)),
        high: steps.map((at, k) => (k === 0 ? Number.NaN : 1.1 + i / 5 + at / 1e4)),
      })),
    },
    {
      kind: 'boxes',
      title: told('The last 20 % of the steps', '最后 20 % 的步'),
      note: told('One point is one seed.', '一点是一个种子。'),
      unit: told('return', '回报'),
      groups: [{ label: '', boxes: names.map((label, i) => ({ label, values: values(1 + i / 5) })) }],
    },
  ]),
  report('random-play', [
    {
      kind: 'effects',
      title: told('Random players, by seat', '随机玩家，按位置'),
      note: told('Distance from the mean of all.', '与总平均之差。'),
      unit: told('return', '回报'),
      effects: names.map((label, i) => ({ label, mean: 0.01 * i, low: 0.01 * i - 0.02, high: 0.01 * i + 0.02 })),
    },
  ]),
  report('ladder', [
    {
      kind: 'boxes',
      title: told('The ladder', '阶梯'),
      note: told('One point is one seed, by rung and agent.', '一点是一个种子，按级与智能体。'),
      unit: told('return', '回报'),
      groups: [told('full', '完整'), told('without subgoals', '去掉子目标'), 'PPO'].map((label, r) => ({
        label,
        boxes: names.map((name, i) => ({ label: name, values: values(1 + i / 5 - r / 3) })),
      })),
    },
  ]),
];

/** Writes it whole under another name first, as the program does. */
export function writeInvestigation(folder: string, ended: number, state: InvestigationState['state']): void {
  const { stages, done, diagnosis } = inLanguage('both', () => {
    const stages = madeStages();
    const done = stages.slice(0, ended);
    return { stages, done, diagnosis: state === 'done' ? explain(done, names, command) : null };
  });
  const next = stages[ended];
  const written: InvestigationState = {
    format: 'trueline/investigation/1',
    title: 'stag-hunt',
    language: 'en',
    command,
    names,
    state,
    now: next ? next.title : '',
    progress: next ? { what: 'runs', done: 2, all: 6, secondsLeft: 75 } : null,
    plan: stageIds.map((id) => ({ id, title: stageTitle(id) })),
    stages: diagnosis?.stages ?? done,
    diagnosis,
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '.investigation.tmp'), inItsLanguage(written));
  renameSync(join(folder, '.investigation.tmp'), join(folder, 'investigation.json'));
}
