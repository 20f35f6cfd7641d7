/** Which column of a log is its step, and which its clock. The finest count comes first, because two rows of one epoch are two rows. */

const stepNames = [
  'step',
  '_step',
  'global_step',
  'train/global_step',
  'training/global_step',
  'time/total_timesteps',
  'total_timesteps',
  'num_env_steps_sampled_lifetime',
  'num_env_steps_sampled',
  'timesteps_total',
  'totalenvinteracts',
  'env_steps',
  'timesteps',
  'episode',
  'training_iteration',
  'iteration',
  'time/iterations',
  'update',
  'epoch',
];
const timeNames = ['wall time', 'wall_time', 'walltime', '_timestamp', 'timestamp'];

const find = (header: readonly string[], names: readonly string[]) => {
  const lower = header.map((name) => name.trim().toLowerCase());
  for (const name of names) if (lower.includes(name)) return lower.indexOf(name);
  return -1;
};

/** Index into the header, or -1. */
export function stepColumn(header: readonly string[]): number {
  return find(header, stepNames);
}

export function timeColumn(header: readonly string[]): number {
  return find(header, timeNames);
}
