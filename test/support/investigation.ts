/** An investigation as its program writes it, with every kind of chart, cut off after so many stages. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InvestigationState } from '../../src/cli/investigation.ts';
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
    did: 'Six seeds were trained.',
    found: `Nothing was found by ${id}.`,
    power: 'A difference of 0.2 would have been seen.',
    tests: [{ name: "Page's trend", statistic: 12.5, p: 0.31, level: 0.001, significant: false }],
    figures: { seeds: 6, 'mean return': 1.25 },
    charts,
    seconds: 3,
  };
}

const stages: StageReport[] = [
  report('phenomenon', [
    {
      kind: 'curves',
      title: 'Return of each agent over training',
      note: 'Interquartile mean over seeds.',
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
      title: 'The last 20 % of the steps',
      note: 'One point is one seed.',
      unit: 'return',
      groups: [{ label: '', boxes: names.map((label, i) => ({ label, values: values(1 + i / 5) })) }],
    },
  ]),
  report('random-play', [
    {
      kind: 'effects',
      title: 'Random players, by seat',
      note: 'Distance from the mean of all.',
      unit: 'return',
      effects: names.map((label, i) => ({ label, mean: 0.01 * i, low: 0.01 * i - 0.02, high: 0.01 * i + 0.02 })),
    },
  ]),
  report('ladder', [
    {
      kind: 'boxes',
      title: 'The ladder',
      note: 'One point is one seed, by rung and agent.',
      unit: 'return',
      groups: ['full', 'without subgoals', 'PPO'].map((label, r) => ({
        label,
        boxes: names.map((name, i) => ({ label: name, values: values(1 + i / 5 - r / 3) })),
      })),
    },
  ]),
];

/** Writes it whole under another name first, as the program does. */
export function writeInvestigation(folder: string, ended: number, state: InvestigationState['state']): void {
  const done = stages.slice(0, ended);
  const diagnosis = state === 'done' ? explain(done, names, command) : null;
  const next = stages[ended];
  const written: InvestigationState = {
    format: 'trueline/investigation/1',
    title: 'stag-hunt',
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
  writeFileSync(join(folder, '.investigation.tmp'), JSON.stringify(written));
  renameSync(join(folder, '.investigation.tmp'), join(folder, 'investigation.json'));
}
