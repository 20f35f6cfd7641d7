/** What must hold of the doctor's judgement: the zoo's bench with its goals. Reduced, it takes a few faults of every group on one game. */

import { fileURLToPath } from 'node:url';
import type { Score } from '../../src/faults/bench/score.ts';
import { type Figure, figure, output } from '../support.ts';

const fullArguments = [
  '--seeds',
  '3',
  '--first-seed',
  '4001',
  '--games',
  'echo,stag-hunt,city,snowdrift',
  '--healthy',
  '120',
];
const reducedArguments = [
  ...['--seeds', '1', '--games', 'echo', '--healthy', '4'],
  ...[
    '--faults',
    'subset-sorted,old-logp-zero,advantage-late,advantage-of-next-agent,reward-late,optimizer-unbound,head-scaled-away,metric-entropy-in-bits',
  ],
];

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  say(`zoo bench, ${size} ...`);
  const program = fileURLToPath(new URL('../../../bin/trueline', import.meta.url));
  const args = size === 'full' ? fullArguments : reducedArguments;
  // Missed goals end the command with status 1, and are to be shown here as figures.
  const text = output(process.execPath, ['-e', run, program, 'zoo', 'bench', ...args, '--json']);
  const { score } = JSON.parse(text) as { score: Score };
  for (const { id, result, named } of score.wrong) say(`${result}: ${id}, said: ${named.join(', ') || 'nothing'}`);
  return [
    ...score.goals.map(({ what, measured, least }) => figure(what, 100 * measured, '%', { least: 100 * least })),
    figure('faulty runs', score.runs, '', undefined, `${score.noEffect} more without effect`),
    figure('healthy runs', score.healthy.runs, '', { least: size === 'full' ? 100 : 4 }),
    figure('faulty runs whose agents are named', (100 * score.agents.right) / Math.max(1, score.agents.runs), '%'),
    figure('faulty runs whose onset is named', (100 * score.onset.right) / Math.max(1, score.onset.runs), '%'),
  ];
}

const run = `const [program, ...args] = process.argv.slice(1);
const { spawnSync } = require('node:child_process');
const { stdout, status } = spawnSync(process.execPath, [program, ...args], { maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'inherit'] });
process.stdout.write(stdout);
process.exitCode = status === 1 ? 0 : status;`;
