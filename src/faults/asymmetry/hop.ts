/** Asymmetry faults of HOP+ agents: modules, logs, buffers and imagination that serve some agents only. They show in the run's counters and in its imagined rows. */
import type { Place } from '../../algorithms/hop/agent.ts';
import type { Diary } from '../../algorithms/hop/modules/diary.ts';
import type { HopStages } from '../../algorithms/hop/stages.ts';
import { between, type Fault, rounded, type Strength, whole } from '../fault.ts';
import { chance } from '../scope.ts';

type Stream = Parameters<Fault['make']>[0];

/** A fault that replaces some arrows of HOP+. `agents` are those that learn. */
function hopFault(
  of: Pick<Fault, 'id' | 'cause' | 'sentence' | 'shows'>,
  draw: (
    stream: Stream,
    agents: readonly number[],
  ) => { strength: Strength; replace: (clean: HopStages) => Partial<HopStages> },
): Fault {
  return {
    ...of,
    stage: 'hop',
    needs: ['separate', 'modules'],
    make(stream, { traits }) {
      const { strength, replace } = draw(stream, traits.learning);
      return { strength, stages: (clean) => ({ hop: { ...clean.hop, ...replace(clean.hop) } }) };
    },
  };
}

const oneOf = (stream: Stream, agents: readonly number[]) => agents[stream.below(agents.length)];

const none = (): [number, number] => [Number.NaN, Number.NaN];

const updates: readonly Fault[] = [
  hopFault(
    {
      id: 'others-modelled-by-first-only',
      cause: 'update-count-differs',
      sentence: 'The model of the other agents is trained for the first agent only.',
      shows: ['counters.value'],
    },
    (_, [first]) => ({
      strength: {},
      replace: (clean) => ({
        learnOthers: (hop, agents, iteration) =>
          agents.includes(first) ? clean.learnOthers(hop, agents, iteration) : Number.NaN,
      }),
    }),
  ),
  hopFault(
    {
      id: 'world-model-of-one-learns-less-often',
      cause: 'update-count-differs',
      sentence: "One agent's world model is trained only in some of the iterations.",
      shows: ['counters.value'],
    },
    (stream, learning) => {
      const [agent, every] = [oneOf(stream, learning), whole(stream, 2, 3)];
      return {
        strength: { agent, every },
        replace: (clean) => ({
          learnWorld: (hop, agents, iteration) =>
            agents.includes(agent) && iteration % every !== 0 ? Number.NaN : clean.learnWorld(hop, agents, iteration),
        }),
      };
    },
  ),
];

/** Runs `work` with the rows of part of the lives in a diary marked as held out, so that they are not kept. */
function losingLives(diary: Diary, lost: (life: number) => boolean, work: () => void): void {
  const held = diary.held.slice(0, diary.length);
  const begun = new Uint8Array(diary.length).fill(1);
  for (let row = 0; row < diary.length; row++) if (diary.later[row] >= 0) begun[diary.later[row]] = 0;
  for (let row = 0; row < diary.length; row++) {
    if (begun[row] === 0 || !lost(row)) continue;
    for (let at = row; at >= 0; at = diary.later[at]) diary.held[at] = 1;
  }
  work();
  diary.held.set(held);
}

const data: readonly Fault[] = [
  hopFault(
    {
      id: 'module-of-some-returns-early',
      cause: 'data-imbalance',
      sentence: 'For some agents a module returns early, as if they had too little to learn from.',
      shows: ['counters.value'],
    },
    (stream, learning) => {
      const places: Place[] = ['world_model', 'other_agents', 'subgoal'];
      const place = places[stream.below(places.length)];
      // The first is always spared, the last never.
      const from = learning[whole(stream, 1, learning.length - 1)];
      return {
        strength: { place, from },
        replace: (clean) => {
          const strikes = (agents: readonly number[]) => agents.some((agent) => agent >= from);
          return {
            world_model: {
              learnWorld: (hop, agents, iteration) => {
                if (!strikes(agents)) return clean.learnWorld(hop, agents, iteration);
                hop.earlyReturns.world_model++;
                return Number.NaN;
              },
            } satisfies Partial<HopStages>,
            other_agents: {
              learnOthers: (hop, agents, iteration) => {
                if (!strikes(agents)) return clean.learnOthers(hop, agents, iteration);
                hop.earlyReturns.other_agents++;
                return Number.NaN;
              },
            } satisfies Partial<HopStages>,
            subgoal: {
              learnSubgoals: (hop, agents, diaries, iteration) => {
                if (!strikes(agents)) return clean.learnSubgoals(hop, agents, diaries, iteration);
                hop.earlyReturns.subgoal++;
                return none();
              },
            } satisfies Partial<HopStages>,
            imagination: {},
          }[place];
        },
      };
    },
  ),
  hopFault(
    {
      id: 'modules-of-one-see-fewer-episodes',
      cause: 'data-imbalance',
      sentence: "Part of one agent's episodes never reach the buffers of its modules.",
      shows: ['counters.value'],
    },
    (stream, learning) => {
      const [agent, share, salt] = [oneOf(stream, learning), rounded(between(stream, 0.3, 0.8)), stream.int32()];
      let iteration = 0;
      return {
        strength: { agent, share },
        replace: (clean) => ({
          remember(hop, diary, buffers, own) {
            if (own !== agent) return clean.remember(hop, diary, buffers, own);
            iteration++;
            losingLives(
              diary,
              (life) => chance(salt, life, iteration) < share,
              () => clean.remember(hop, diary, buffers, own),
            );
          },
        }),
      };
    },
  ),
];

const logs: readonly Fault[] = [
  hopFault(
    {
      id: 'subgoal-log-of-one-empty',
      cause: 'subgoal-log-incomplete',
      sentence: "One agent's subgoals are never logged, and read as zeros.",
      shows: ['counters.value'],
    },
    (stream, learning) => {
      const agent = oneOf(stream, learning);
      return {
        strength: { agent },
        replace: (clean) => ({
          logSubgoal(diary, row, code, place, width, own) {
            if (own !== agent) return clean.logSubgoal(diary, row, code, place, width, own);
            diary.code.fill(0, row * width, (row + 1) * width);
          },
        }),
      };
    },
  ),
];

const imagined: readonly Fault[] = [
  hopFault(
    {
      id: 'imagined-filed-under-first',
      cause: 'imagined-misattributed',
      sentence: 'Whatever any agent imagines is filed under the first agent.',
      shows: ['samples.agent'],
    },
    (_, [first]) => ({ strength: {}, replace: () => ({ fileImagined: () => first }) }),
  ),
  hopFault(
    {
      id: 'imagined-filed-under-next',
      cause: 'imagined-misattributed',
      sentence: 'What an agent imagines is filed under the agent that follows it.',
      shows: ['samples.agent'],
    },
    (_, learning) => ({
      strength: {},
      replace: () => ({ fileImagined: (agent) => learning[(learning.indexOf(agent) + 1) % learning.length] }),
    }),
  ),
];

export const hopAsymmetries: readonly Fault[] = [...updates, ...data, ...logs, ...imagined];
