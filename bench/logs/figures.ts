/** What a trainer reports of itself, update by update and agent by agent: the figures that the loggers of other programs are given to write. They come from runs of our own trainer, healthy or with a fault of the zoo. */
import { type AppliedFault, applyFault, findFault } from '../../src/faults/index.ts';
import type { Engine } from '../../src/net/types.ts';
import type { NumberColumn } from '../../src/recording/column.ts';
import { memoryStore, Recording, RecordingWriter } from '../../src/recording/index.ts';
import type { SettingsInput } from '../../src/training/settings.ts';
import { cleanStages } from '../../src/training/stages.ts';
import { Trainer } from '../../src/training/trainer.ts';

/** One update of one agent. A number that is not known is null; one that is not finite is its name, because JSON has none. */
export type FigureRow = Record<string, number | string | null>;

export interface RunFigures {
  agents: string[];
  /** By agent, then by update. */
  rows: FigureRow[][];
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const deviation = (values: readonly number[]) => {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
};

/** Columns of `steps` that programs log, averaged over an update's steps. */
const reported = ['approx_kl', 'clip_fraction', 'entropy', 'policy_loss', 'value_loss', 'grad_norm', 'learning_rate'];

/** Every agent has a policy of its own, so that figures of a policy are figures of an agent. */
export async function figuresOf(
  engine: Engine,
  input: SettingsInput,
  iterations: number,
  fault?: string,
): Promise<RunFigures> {
  const loud: SettingsInput = { guard: 'off', ...input, recording: { record: 'all' } };
  const applied = fault ? fromTheStart(fault, loud) : null;
  const trainer = new Trainer(applied?.settings ?? loud, { engine, stages: applied?.stages ?? cleanStages });
  const store = memoryStore('run');
  const writer = await RecordingWriter.create(store, trainer.manifest());
  trainer.record(writer);
  const agents = trainer.learners.map((_, i) => trainer.seating.names[i] ?? `agent_${i}`);
  const rows: FigureRow[][] = agents.map(() => []);
  for (let i = 0; i < iterations; i++) {
    const { readings, returns, steps } = await trainer.iterate();
    readings.forEach((reading, agent) => {
      rows[agent].push({
        step: steps,
        update: i,
        explained_variance: known(reading.explained_variance),
        return: returns[agent].episodes > 0 ? known(returns[agent].mean) : null,
      });
    });
  }
  await writer.close();
  const recording = await Recording.open(store);
  const several = agents.length > 1;
  const steps = await table(recording, 'steps', ['iteration', 'epoch', ...(several ? ['policy'] : []), ...reported]);
  const used = await table(recording, 'replays', [
    'iteration',
    ...(several ? ['policy'] : []),
    'advantage',
    'new_logp',
    'old_logp',
  ]);
  const stepRows = groups(steps, agents.length, iterations);
  const usedRows = groups(used, agents.length, iterations);
  rows.forEach((own, agent) => {
    own.forEach((row, i) => {
      const at = stepRows[agent][i];
      for (const name of reported) row[name] = known(mean(at.map((k) => steps(name)[k])));
      row.epochs_run = 1 + Math.max(...at.map((k) => steps('epoch')[k]));
      const replayed = usedRows[agent][i];
      const advantages = replayed.map((k) => used('advantage')[k]);
      row.advantage_mean = known(mean(advantages));
      row.advantage_std = known(deviation(advantages));
      row.ratio = known(mean(replayed.map((k) => Math.exp(used('new_logp')[k] - used('old_logp')[k]))));
    });
  });
  return { agents, rows };
}

/** The fault with the first seed that lets it strike all rows from the first update on: what begins late is another question. */
function fromTheStart(fault: string, input: SettingsInput): AppliedFault {
  for (let seed = 1; ; seed++) {
    const applied = applyFault(findFault(fault), seed, cleanStages, input);
    const { onset = 0, agents = 'all', share = 1 } = applied.strength;
    if ((onset === 0 && agents === 'all' && share === 1) || seed === 100) return applied;
  }
}

const known = (value: number): number | string =>
  Number.isFinite(value) ? value : Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';

type Columns = (name: string) => ArrayLike<number>;

async function table(recording: Recording, name: 'steps' | 'replays', names: string[]): Promise<Columns> {
  const { columns } = await recording.read(name, names);
  return (column) => (columns.get(column) as NumberColumn | undefined)?.values as ArrayLike<number>;
}

/** Row numbers by policy and iteration. */
function groups(columns: Columns, policies: number, iterations: number): number[][][] {
  const out = Array.from({ length: policies }, () => Array.from({ length: iterations }, (): number[] => []));
  const [policy, iteration] = [columns('policy'), columns('iteration')];
  for (let k = 0; k < iteration.length; k++) out[policies > 1 ? policy[k] : 0][iteration[k]].push(k);
  return out;
}
