/** Every setting of a training run, with its default and one sentence. The schema is the only list: help text, JSON Schema and checks read it. */

import { z } from 'zod';
import { algorithmNames, algorithmSchemas, algorithms } from '../algorithms/index.ts';
import { networkSchema } from '../algorithms/ppo/settings.ts';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { excerpt } from '../recording/files/json.ts';
import { formatBytes } from '../recording/source.ts';
import { chineseSettings } from './settings-chinese.ts';
import { probeSchema } from './update/diagnostic-probes.ts';

const whole = (low: number, high: number) => z.number().int().min(low).max(high);

export const recordingSchema = z.strictObject({
  record: z
    .enum(['all', 'cadence', 'off'])
    .default('cadence')
    .describe(
      'Whether samples, replays and tensors are kept for every iteration, for the first few and then every n-th, or never.',
    ),
  first: whole(0, 1_000_000).default(3).describe('How many first iterations are kept whole.'),
  policies: z
    .boolean()
    .default(false)
    .describe(
      'Keeps the policies that sampled beside every iteration that is kept whole, so that they can be run again.',
    ),
  every: whole(1, 1_000_000).default(10).describe('After those, every so-many-th iteration is kept whole.'),
});

/**
 * Every setting of a run with its default and a sentence. `readSettings` gives the better messages.
 *
 * @example
 * const { success } = settingsSchema.safeParse({ game: 'echo', gamma: 0.95 });
 */
export const settingsSchema = z.strictObject({
  name: z.string().nullable().default(null).describe('What the run is called; null makes a name from game and seed.'),
  game: z.string().default('echo').describe('Which game is trained on.'),
  gameSettings: z.record(z.string(), z.unknown()).default({}).describe("The game's own settings."),
  algorithm: z
    .enum(algorithmNames)
    .default('ppo')
    .describe(`${algorithmNames.map((name) => `${name} ${algorithms[name].meaning}`).join('; ')}.`),
  seed: whole(0, 2 ** 53 - 1)
    .default(1)
    .describe('Names every random stream of the run.'),
  steps: whole(1, 1e12)
    .default(200_000)
    .describe('How many decisions of learning agents the run takes before it ends.'),
  worlds: whole(1, 65_536).default(64).describe('How many copies of the game are played side by side.'),
  collect: z
    .enum(['steps', 'episodes'])
    .default('steps')
    .describe('Whether an iteration plays a number of steps or whole episodes in every world.'),
  rollout: whole(1, 1_000_000).default(64).describe('Steps, or episodes, that every world plays in one iteration.'),
  sharing: z
    .enum(['separate', 'shared'])
    .default('separate')
    .describe('Whether every agent has a policy of its own or all share one.'),
  order: z
    .enum(['fixed', 'reversed', 'rotated', 'shuffled'])
    .default('fixed')
    .describe(
      'In which order agents are updated: always the same, the same from the last to the first, moved on by one each iteration, or drawn anew.',
    ),
  names: z
    .array(z.string().min(1))
    .nullable()
    .default(null)
    .describe(
      "The agents' names; they name the random streams too; null takes the game's roles or player_1 and so on.",
    ),
  players: z
    .array(z.string().min(1))
    .nullable()
    .default(null)
    .describe(
      'Who plays each agent: learn, an algorithm (hop without subgoals, ppo with ppo.clip=0.1), from RUN, frozen RUN, or a scripted player; null lets all learn.',
    ),
  deal: z
    .boolean()
    .default(false)
    .describe('Deals agents to seats anew in every episode; otherwise agent i sits in seat i.'),
  guard: z
    .enum(['off', 'warn', 'strict'])
    .default('warn')
    .describe('What the live checks do: nothing, report each kind once and count, or stop the run.'),
  kernel: z
    .enum(['auto', 'relaxed', 'simd', 'reference'])
    .default('auto')
    .describe(
      'Which arithmetic runs; simd gives the same bits on every CPU, reference is slow and in double precision.',
    ),
  engine: z
    .enum(['auto', 'native', 'wasm'])
    .default('auto')
    .describe(
      'Who runs the relaxed kernel: native is machine code of this CPU, wasm is WebAssembly; auto takes native where it is there; results do not depend on it.',
    ),
  threads: z
    .union([z.literal(1), z.literal(2)])
    .nullable()
    .default(null)
    .describe('How many threads compute; null takes what the engine thinks best; results do not depend on it.'),
  checkpoint: whole(0, 1_000_000)
    .default(10)
    .describe('Saves a checkpoint every so many iterations; 0 saves only at the start and the end.'),
  probes: z
    .array(probeSchema)
    .default([])
    .describe('Deliberate diagnostic changes, each in force for a few updates and recorded by name.'),
  ...algorithmSchemas,
  network: networkSchema.prefault({}).describe('The shape of the networks.'),
  recording: recordingSchema.prefault({}).describe('How much of the run is kept.'),
});

/**
 * The whole settings of a run, every default filled in.
 *
 * @example
 * const settings: Settings = readSettings({ game: 'echo' });
 * console.log(settings.gamma);
 */
export type Settings = z.output<typeof settingsSchema>;
/**
 * Settings as somebody gives them: whatever is left out has its default.
 *
 * @example
 * const input: SettingsInput = { game: 'stag-hunt', algorithm: 'mappo', steps: 300_000 };
 */
export type SettingsInput = z.input<typeof settingsSchema>;

/**
 * Settings with every default filled in; a wrong one is named with what was got and what is possible.
 *
 * @example
 * const settings = readSettings({ game: 'echo', gamma: 0.95 });
 */
export function readSettings(input: SettingsInput | Record<string, unknown> = {}): Settings {
  const result = settingsSchema.safeParse(input);
  if (result.success) return result.data;
  const sentences = result.error.issues.map((issue) => {
    const path = issue.path.join('.');
    let got: unknown = input;
    for (const part of issue.path) got = (got as Record<PropertyKey, unknown> | undefined)?.[part];
    return told(
      `setting ${path || '(top level)'}: got ${got === undefined ? 'nothing' : excerpt(got)}; ${issue.message}`,
      `设置 ${path || '（最上层）'}：收到${got === undefined ? '空' : ` ${excerpt(got)}`}；${issue.message}`,
    );
  });
  throw new BadInput(
    told(
      `${sentences.join('. ')}. Run with --describe to see every setting.`,
      `${sentences.join('。')}。用 --describe 可查看每个设置。`,
    ),
  );
}

export interface SettingDescription {
  path: string;
  default: unknown;
  description: string;
  choices?: string[];
}

interface SchemaNode {
  description?: string;
  default?: unknown;
  enum?: string[];
  properties?: Record<string, SchemaNode>;
}

/**
 * One entry per setting, nested ones by dotted path, for help text and docs, in the language that is spoken.
 *
 * @example
 * for (const setting of describeSettings()) console.log(setting);
 */
export function describeSettings(): SettingDescription[] {
  const found: SettingDescription[] = [];
  const walk = (node: SchemaNode, prefix: string) => {
    for (const [key, child] of Object.entries(node.properties ?? {})) {
      if (child.properties && key !== 'gameSettings') walk(child, `${prefix}${key}.`);
      else
        found.push({
          path: `${prefix}${key}`,
          default: child.default,
          description: told(child.description ?? '', chineseSettings[`${prefix}${key}`] ?? child.description ?? ''),
          ...(child.enum ? { choices: child.enum } : {}),
        });
    }
  };
  walk(settingsJsonSchema() as SchemaNode, '');
  return found;
}

/**
 * A JSON Schema of the settings file, for editors.
 *
 * @example
 * writeFileSync('settings.schema.json', JSON.stringify(settingsJsonSchema()));
 */
export function settingsJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(settingsSchema, { io: 'input' }) as Record<string, unknown>;
}

/** What the settings say about themselves, once the number of learning agents is known: sentences that inform, and errors that stop. */
export function checkSettings(
  settings: Settings,
  seats: number,
  learningAgents: number,
  hasFeatures: boolean,
): string[] {
  const notices: string[] = [];
  const { ppo } = settings;
  if (settings.names && settings.names.length !== seats)
    throw new BadInput(
      told(
        `names lists ${settings.names.length} agents but ${settings.game} has ${seats} seats; give ${seats} names`,
        `names 列出 ${settings.names.length} 个智能体，而 ${settings.game} 有 ${seats} 个位置；请给出 ${seats} 个名称`,
      ),
    );
  if (settings.names && new Set(settings.names).size !== settings.names.length)
    throw new BadInput(
      told(
        `names are ${settings.names.join(', ')}; every agent needs a name of its own, because names choose the random streams`,
        `names 是 ${settings.names.join(', ')}；每个智能体都要有自己的名称，因为名称决定随机流`,
      ),
    );
  if (settings.players && settings.players.length !== seats)
    throw new BadInput(
      told(
        `players lists ${settings.players.length} but ${settings.game} has ${seats} seats; give one per seat, such as ${Array.from({ length: seats }, () => 'learn').join(',')}`,
        `players 列出 ${settings.players.length} 个，而 ${settings.game} 有 ${seats} 个位置；请每个位置给一个，例如 ${Array.from({ length: seats }, () => 'learn').join(',')}`,
      ),
    );
  if (learningAgents === 0)
    throw new BadInput(
      told(
        'no agent learns: every entry of players is scripted; make at least one of them learn',
        '没有智能体在学习：players 的每一项都是脚本；请至少让其中一个学习',
      ),
    );
  if (settings.network.head === 'pointer' && !hasFeatures)
    throw new BadInput(
      told(
        `network.head is pointer but ${settings.game} gives its candidates no features; use fixed`,
        `network.head 是 pointer，但 ${settings.game} 的候选没有特征；请用 fixed`,
      ),
    );
  if (settings.collect === 'steps') {
    const rows = settings.worlds * settings.rollout * (settings.sharing === 'shared' ? learningAgents : 1);
    if (ppo.minibatches > rows)
      throw new BadInput(
        told(
          `ppo.minibatches is ${ppo.minibatches} but a policy collects at most ${rows} rows per iteration; use at most ${rows}, or more worlds or a longer rollout`,
          `ppo.minibatches 是 ${ppo.minibatches}，而一个策略每次迭代最多收集 ${rows} 行；请最多用 ${rows}，或增加世界数、加长 rollout`,
        ),
      );
    if (rows % ppo.minibatches !== 0) {
      const others = nearbyDivisors(rows, ppo.minibatches);
      notices.push(
        told(
          `ppo.minibatches ${ppo.minibatches} does not divide ${rows} rows evenly, so minibatches differ by one row; ${others} would divide it`,
          `ppo.minibatches ${ppo.minibatches} 不能整除 ${rows} 行，小批量会相差一行；${others} 可以整除`,
        ),
      );
    }
  }
  if (ppo.adaptiveBounds[0] > ppo.adaptiveBounds[1])
    throw new BadInput(
      told(
        `ppo.adaptiveBounds are ${ppo.adaptiveBounds.join(' and ')}; the first must be the smaller`,
        `ppo.adaptiveBounds 是 ${ppo.adaptiveBounds.join(' 和 ')}；第一个必须较小`,
      ),
    );
  if (ppo.entropyCoefficient < 0)
    notices.push(
      told(
        `ppo.entropyCoefficient is ${ppo.entropyCoefficient}: a negative one punishes exploration`,
        `ppo.entropyCoefficient 是 ${ppo.entropyCoefficient}：负值会惩罚探索`,
      ),
    );
  const decay = Math.max(ppo.weightDecay, ppo.headWeightDecay ?? 0);
  if (decay > 0)
    notices.push(
      told(
        `${decay === ppo.weightDecay ? 'ppo.weightDecay' : 'ppo.headWeightDecay'} is ${decay}: decay pulls the policy towards uniform choice whatever the rewards say`,
        `${decay === ppo.weightDecay ? 'ppo.weightDecay' : 'ppo.headWeightDecay'} 是 ${decay}：不管奖励如何，衰减都把策略拉向均匀选择`,
      ),
    );
  return notices;
}

/** What the kernels address: the rows of one iteration are never more. */
const mostBytes = 2 ** 32;

/** An episode has a step at least, so the figure holds for both ways of collecting. */
export function requireRoom({ worlds, rollout }: Settings, learningAgents: number, bytes: number): void {
  const rows = worlds * rollout * learningAgents;
  if (rows * bytes <= mostBytes) return;
  const most = Math.floor(mostBytes / (bytes * learningAgents));
  throw new BadInput(
    told(
      `worlds ${worlds} x rollout ${rollout} are ${rows} rows of ${bytes} bytes, ${formatBytes(rows * bytes)} for one iteration; at most ${formatBytes(mostBytes)} fit, so keep worlds x rollout to ${most} or less`,
      `worlds ${worlds} x rollout ${rollout} 共 ${rows} 行，每行 ${bytes} 字节，一次迭代 ${formatBytes(rows * bytes)}；最多容纳 ${formatBytes(mostBytes)}，请让 worlds x rollout 不超过 ${most}`,
    ),
  );
}

/** "2, 4 or 5": the divisors of `rows` nearest to `wanted`. */
export function nearbyDivisors(rows: number, wanted: number): string {
  const divisors: number[] = [];
  // One minibatch always divides, and is never what was meant.
  for (let d = 2; d * d <= rows; d++) {
    if (rows % d !== 0) continue;
    divisors.push(d);
    if (d * d !== rows) divisors.push(rows / d);
  }
  if (rows > 1) divisors.push(rows);
  divisors.sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted) || a - b);
  const chosen = divisors.slice(0, 3).sort((a, b) => a - b);
  return chosen.length > 1 ? `${chosen.slice(0, -1).join(', ')} or ${chosen[chosen.length - 1]}` : String(chosen[0]);
}
