/** One entry of `players`, in words: `learn`, `hop without subgoals`, `ppo with ppo.clip=0.1`, `from RUN`, `frozen RUN#player_2`, `frozen without planner RUN`, or a scripted player. Whether the words fit the game is seen later. */

import { type AlgorithmName, algorithmNames } from '../../algorithms/index.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';

export const learning = 'learn';

/** Where an agent comes from: a run, and one of its agents; the one of the same name where none is named. */
export interface OriginWords {
  readonly run: string;
  readonly agent: string | null;
}

/** By which an agent of another run is known. */
export const originKey = ({ run, agent }: OriginWords, name: string): string => `${run}#${agent ?? name}`;

export interface Entry {
  readonly text: string;
  /** The scripted player; null where a policy plays. */
  readonly scripted: string | null;
  /** null takes the run's algorithm, or that of the run it comes from. */
  readonly algorithm: AlgorithmName | null;
  /** Modules that it leaves out; null leaves them as the run has them. */
  readonly without: readonly string[] | null;
  /** `ppo.clip=0.1` and so on, as they were written. */
  readonly sets: readonly string[];
  readonly origin: OriginWords | null;
  /** Plays as it came and never learns. */
  readonly frozen: boolean;
}

const isAlgorithm = (word: string): word is AlgorithmName => (algorithmNames as readonly string[]).includes(word);
const startsSeat = (word: string) => word === learning || isAlgorithm(word) || word === 'from' || word === 'frozen';

/** Whether an entry names a policy, learnt or to be learnt, rather than a scripted player. */
export function isLearning(text: string): boolean {
  return startsSeat(text.trim().split(/\s+/)[0]);
}

/** Whether its agent learns in the run; an absent entry does. */
export function asksToLearn(text: string = learning): boolean {
  return isLearning(text) && !/^\s*frozen\b/.test(text);
}

export function readEntry(text: string): Entry {
  const words = text.trim().split(/\s+/);
  const entry = { text, scripted: null, algorithm: null, without: null, sets: [], origin: null, frozen: false };
  if (!startsSeat(words[0])) {
    if (words.length > 1)
      throw new BadInput(
        told(
          `player ${JSON.stringify(text)}: ${words[0]} is a scripted player, and nothing can follow it; only ${[learning, ...algorithmNames].join(', ')} take "without", "with" and "from"`,
          `玩家 ${JSON.stringify(text)}：${words[0]} 是脚本玩家，后面不能再写；只有 ${[learning, ...algorithmNames].join(', ')} 可带 "without"、"with" 和 "from"`,
        ),
      );
    return { ...entry, scripted: words[0] };
  }
  if (words[0] === 'frozen') {
    const without = words[1] === 'without' ? (words[2] ?? '').split('+') : null;
    return { ...entry, frozen: true, without, origin: originOf(text, words.slice(without ? 3 : 1)) };
  }
  return clauses(text, words, entry);
}

function clauses(text: string, words: readonly string[], entry: Entry): Entry {
  const algorithm = isAlgorithm(words[0]) ? words[0] : null;
  const sets: string[] = [];
  let without: string[] | null = null;
  for (let i = words[0] === 'from' ? 0 : 1; i < words.length; i += 2) {
    const [clause, value] = [words[i], words[i + 1]];
    // A path may hold spaces, so a run is named last.
    if (clause === 'from') return { ...entry, algorithm, without, sets, origin: originOf(text, words.slice(i + 1)) };
    if (value === undefined || (clause !== 'with' && clause !== 'without'))
      throw new BadInput(
        told(
          `player ${JSON.stringify(text)}: "${clause}" is not understood; after an algorithm come "without MODULE+MODULE", "with name=value" and, last, "from RUN"`,
          `玩家 ${JSON.stringify(text)}：看不懂 "${clause}"；算法之后可写 "without MODULE+MODULE"、"with name=value"，最后是 "from RUN"`,
        ),
      );
    if (clause === 'with') sets.push(value);
    else without = value === 'none' ? [] : value.split('+');
  }
  return { ...entry, algorithm, without, sets };
}

function originOf(text: string, words: readonly string[]): OriginWords {
  const path = words.join(' ');
  if (path === '')
    throw new BadInput(
      told(
        `player ${JSON.stringify(text)}: the folder of a run is missing, such as frozen runs/echo-1`,
        `玩家 ${JSON.stringify(text)}：缺少训练的文件夹，例如 frozen runs/echo-1`,
      ),
    );
  const at = path.lastIndexOf('#');
  return at < 0 ? { run: path, agent: null } : { run: path.slice(0, at), agent: path.slice(at + 1) };
}
