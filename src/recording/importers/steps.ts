/** Which column of a log is its step, which its clock, and which says whose a row is. The finest count comes first, because two rows of one epoch are two rows. */

const stepNames = (
  'step global_step train/global_step training/global_step time/total_timesteps total_timesteps num_env_steps_sampled_lifetime ' +
  'num_env_steps_sampled timesteps_total total_env_interacts total_env_steps env_steps timesteps timestep total_steps num_steps frames iteration_id update_id update_idx ' +
  'update_step episode_id episode ep training_iteration iteration iter it time/iterations update epoch 步数 更新 迭代 轮次 回合'
).split(' ');
const timeNames = 'wall_time walltime timestamp time_stamp 时间'.split(' ');
const ownerNames = 'agent agent_id agent_name agent_index player player_id policy_id policy_name 智能体'.split(' ');
const nameNames = 'metric metric_name tag variable scalar key name'.split(' ');
const runNames = 'run run_id run_name run_hash run/hash experiment trial trial_id seed 种子'.split(' ');

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9\u3400-\u9fff]/g, '');

const finder = (names: readonly string[]) => {
  const wanted = names.map(plain);
  return (header: readonly string[]): number => {
    const have = header.map(plain);
    for (const name of wanted) if (have.includes(name)) return have.indexOf(name);
    return -1;
  };
};

/** Each gives an index into the header, or -1. */
export const stepColumn = finder(stepNames);
export const timeColumn = finder(timeNames);
export const ownerColumn = finder(ownerNames);
/** Of a long table, which has a row for each number. */
export const nameColumn = finder(nameNames);
export const runColumn = finder(runNames);
