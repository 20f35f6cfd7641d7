/** Group F: equal agents come out unequal. Named by `trueline symmetry`, which compares many seeds. */
import type { CauseEntry } from './cause.ts';

const none = { pytorch: '', trueline: '' };
const entry = (
  id: string,
  meaning: string,
  toldApart: string,
  proof: string,
  remedy: string,
  code: { pytorch: string; trueline: string } = none,
): CauseEntry => ({
  id,
  group: 'F',
  meaning,
  toldApart,
  symptoms: ['returns ordered by agent number across seeds'],
  proof,
  remedy,
  ...code,
});

export const symmetryCauses: readonly CauseEntry[] = [
  entry(
    'environment-seat-bias',
    'A physical seat (start, view, tie-break by seat) is better.',
    'Random play; the advantage stays with the seat when names are permuted.',
    'Returns by seat differ under a random policy.',
    'Make starts, views and tie-breaks independent of the seat, or deal agents to seats anew in every episode.',
    {
      pytorch: 'order = rng.permutation(n_agents)              # tie-breaks by chance, not by index',
      trueline: 'deal: true',
    },
  ),
  entry(
    'environment-name-bias',
    'The environment treats a name or index specially.',
    'The advantage follows the name when seats are permuted.',
    'Returns by name differ under a random policy with seats dealt.',
    'Remove what reads the name or the index from the rules of the environment.',
    { pytorch: '# no branch on agent_id in step()', trueline: 'checkGame(() => game)' },
  ),
  entry(
    'reward-bookkeeping',
    'Rewards are credited to the wrong agent, scaled or masked for some.',
    'Sum over agents conserved or not; log against environment.',
    'The stored rewards of some agents are not what the environment paid them.',
    'Store rewards by agent name straight from step().',
    {
      pytorch: 'buffer[agent].reward.append(rewards[agent])',
      trueline: 'reward and env_reward are columns of one row',
    },
  ),
  entry(
    'settings-differ',
    "Agents' settings are not the same.",
    "The settings' difference.",
    'agent_settings differ between agents.',
    'Build all agents from one settings object.',
    { pytorch: 'agents = [Agent(config) for _ in names]', trueline: 'one settings file for all agents' },
  ),
  entry(
    'update-count-differs',
    'Agents are not updated equally often.',
    'Counters.',
    'updates.policy differs between agents.',
    'Update every agent once per iteration, and count.',
    { pytorch: 'for agent in agents: agent.update(); counts[agent] += 1', trueline: 'counters: updates.policy' },
  ),
  entry(
    'training-order-matters',
    'The fixed order of updates decides the ranking.',
    'The ranking moves when the order is reversed or shuffled.',
    'Runs that differ only in the order rank differently.',
    'Shuffle or rotate the order of updates every iteration.',
    { pytorch: 'for agent in rng.permutation(agents): agent.update()', trueline: 'order: shuffled' },
  ),
  entry(
    'data-imbalance',
    "Agents' buffers receive unequal data.",
    'Counters of pushes, sizes, early returns.',
    'push and buffer counters differ between agents.',
    'Push one row per decision for every agent, and find the early return that skips some.',
    { pytorch: 'assert len(buffers[a]) == len(buffers[b])', trueline: 'counters: push.real, buffer.real' },
  ),
  entry(
    'subgoal-log-incomplete',
    "An agent's subgoal history is missing or zero.",
    'subgoal.length against subgoal.expected.',
    'The recorded history is shorter than the episode.',
    'Append a subgoal in every step for every agent, also where none was chosen.',
  ),
  entry(
    'imagined-misattributed',
    'Imagined episodes are filed under the wrong agent or environment.',
    'Imagined against real statistics per agent.',
    "An agent's imagined rows look like another agent's real ones.",
    'Carry agent and environment along with every imagined row.',
  ),
  entry(
    'perspective-mismatch',
    "An agent's observation is rotated to its own point of view and something beside it is not.",
    "Agreement after rotating by the agent's index.",
    'Rotating the other column by the index makes both agree.',
    "Rotate others' actions, masks and targets with the same function as the observation.",
  ),
  entry(
    'world-model-bias',
    'The world model causes the ranking.',
    'The difference in trend between rungs of the ablation ladder, paired by seed.',
    'The trend disappears without the world model.',
    "Train the world model on all agents' rows equally.",
  ),
  entry(
    'other-agent-model-bias',
    'The models of other agents cause the ranking.',
    'As world-model-bias.',
    'The trend disappears without those models.',
    'Give every agent the same data about every other.',
  ),
  entry(
    'subgoal-bias',
    'The choice of subgoals causes the ranking.',
    'As world-model-bias.',
    'The trend disappears without subgoals.',
    'Use one subgoal rule for all agents, seen from their own point of view.',
  ),
];
