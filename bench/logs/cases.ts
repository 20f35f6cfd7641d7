/** Forty-four logs that the loggers of other programs write: which run, by whose logger, and what is wrong with it. Half of the runs are healthy. Of the faulty ones only those count towards naming whose fault a log can show; the others must not have their cause ruled out. */
import type { SettingsInput } from '../../src/training/settings.ts';

export interface LogCase {
  name: string;
  /** A function of write.py. */
  writer: string;
  run: RunName;
  seed: number;
  /** A fault of the zoo; absent where the run is healthy. */
  fault?: string;
  /** False where the log of this program lacks the figure that would show the fault. */
  shows?: boolean;
}

export const updates = 60;
const common: SettingsInput = { worlds: 16, network: { hidden: [32] } };
/** A run of so many updates: faults that follow a schedule follow this one. */
const run = (game: string, rollout: number, seats: number, rest: SettingsInput): SettingsInput => ({
  ...common,
  game,
  rollout,
  steps: updates * 16 * rollout * seats,
  ...rest,
});

/** Runs that learn within their updates, so that a log shows it when they do not. */
export const runs = {
  cartpole: run('cartpole', 64, 1, { ppo: { learningRate: 2e-3 } }),
  slow: run('cartpole', 64, 1, { ppo: { learningRate: 3e-4, epochs: 10 } }),
  echo: run('echo', 32, 2, { gameSettings: { seats: 2 }, ppo: { learningRate: 2e-3 } }),
  stag: run('stag-hunt', 32, 4, { ppo: { learningRate: 1e-3 } }),
};

export type RunName = keyof typeof runs;

/** Programs that are not had from PyPI: written by hand, to the format that they document. */
const byHand = new Set(['spinning_up']);

/** The program whose logger wrote a log; none where it was written by hand. */
export const programOf = ({ writer }: LogCase): string[] =>
  byHand.has(writer) ? [] : [writer.replace(/^(sb3|dowel|trainer)_.*/, '$1')];

const healthy = (name: string, writer: string, run: RunName, seed: number): LogCase => ({ name, writer, run, seed });
const faulty = (writer: string, fault: string, run: RunName, seed: number, shows = true): LogCase => ({
  name: `${writer}-${fault}`,
  writer,
  run,
  seed,
  fault,
  shows,
});

export const healthyCases: readonly LogCase[] = [
  healthy('cleanrl', 'torch_tensorboard', 'cartpole', 1),
  healthy('on-policy', 'tensorboardx', 'echo', 1),
  healthy('on-policy-stag', 'tensorboardx', 'stag', 1),
  healthy('wandb', 'wandb', 'cartpole', 2),
  healthy('mlflow', 'mlflow', 'slow', 1),
  healthy('mlflow-agents', 'mlflow', 'echo', 2),
  healthy('trainer-state', 'trainer_state', 'cartpole', 3),
  healthy('trainer-printed', 'trainer_printed', 'slow', 2),
  healthy('keras', 'keras', 'cartpole', 1),
  healthy('lightning', 'lightning', 'slow', 1),
  healthy('sacred', 'sacred', 'cartpole', 2),
  healthy('garage', 'dowel', 'cartpole', 3),
  healthy('garage-printed', 'dowel_printed', 'slow', 2),
  healthy('pfrl', 'pfrl', 'cartpole', 1),
  healthy('rsl-rl', 'rsl_rl', 'cartpole', 2),
  healthy('verl', 'verl', 'slow', 1),
  healthy('rllib', 'ray', 'echo', 1),
  healthy('sb3', 'sb3_csv', 'cartpole', 3),
  healthy('sb3-monitor', 'sb3_monitor', 'cartpole', 1),
  healthy('acme', 'acme', 'cartpole', 2),
  healthy('aim', 'aim', 'cartpole', 3),
  healthy('tianshou', 'tianshou', 'slow', 2),
];

export const faultyCases: readonly LogCase[] = [
  faulty('torch_tensorboard', 'optimizer-unbound', 'cartpole', 1),
  faulty('tensorboardx', 'optimizer-unbound', 'echo', 1),
  faulty('wandb', 'advantage-zero', 'cartpole', 2),
  faulty('wandb', 'kl-guard-tight', 'cartpole', 1),
  faulty('mlflow', 'old-logp-recomputed', 'cartpole', 2),
  faulty('trainer_state', 'learning-rate-huge', 'cartpole', 3),
  faulty('keras', 'policy-detached', 'cartpole', 1),
  faulty('lightning', 'entropy-bonus-declared', 'cartpole', 2),
  faulty('sacred', 'advantage-one-sign', 'cartpole', 3),
  faulty('dowel', 'loss-sign-flipped', 'cartpole', 1),
  faulty('dowel_printed', 'policy-detached', 'slow', 1),
  faulty('pfrl', 'value-target-overflows', 'cartpole', 2),
  faulty('rsl_rl', 'reward-not-a-number', 'cartpole', 1),
  faulty('verl', 'learning-rate-huge', 'cartpole', 1),
  faulty('ray', 'values-in-other-units', 'cartpole', 1),
  faulty('sb3_json', 'learning-rate-tiny', 'cartpole', 1),
  faulty('sb3_tensorboard', 'learning-rate-scheduled-away', 'cartpole', 2),
  faulty('aim', 'optimizer-unbound', 'slow', 1),
  faulty('tianshou', 'advantage-negated', 'cartpole', 2),
  faulty('spinning_up', 'old-logp-zero', 'cartpole', 1),
  // Of these the log has nothing to show: returns rise all the same, and no figure is out of its band.
  faulty('sb3_log', 'temperature-in-update', 'cartpole', 1, false),
  faulty('sb3_csv', 'entropy-sign-flipped', 'cartpole', 2, false),
];

export const logCases: readonly LogCase[] = [...healthyCases, ...faultyCases];
