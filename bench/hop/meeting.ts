/** One game and seed of the protocol: who is trained, whom they meet, and what they earn beside them before and after learning. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PlannerSettings } from '../../src/algorithms/hop-planner/settings.ts';
import type { Learner } from '../../src/algorithms/learner.ts';
import { gameMaker } from '../../src/games/index.ts';
import type { Engine } from '../../src/net/types.ts';
import { writeWhole } from '../../src/recording/node.ts';
import { playLearnt } from '../../src/training/collect/evaluate.ts';
import { curveOf, playMatch } from '../../src/training/lineup/match.ts';
import { readOrigins, trainInto } from '../../src/training/node.ts';
import { mergeSettings, recommendedSettings } from '../../src/training/recommended.ts';
import { readSettings } from '../../src/training/settings.ts';
import { Trainer } from '../../src/training/trainer.ts';
import { Results } from './results.ts';

export const algorithms = ['hop-planner', 'hop', 'ppo', 'mappo'] as const;
export type Algorithm = (typeof algorithms)[number];
/** HOP's own networks, without the search that taught them. */
export const alone = 'networks alone';

export interface AdaptSizes {
  seeds: readonly number[];
  /** Decisions of training and the rest of how it is done, by algorithm; a search learns more from each. */
  settings: (algorithm: string, part: Part) => Record<string, unknown>;
  /** Lives with each kind of partner, and episodes of each. */
  lives: (part: Part) => number;
  episodes: (part: Part) => number;
  /** Decisions of learning beside a partner. */
  steps: number;
}

export const games = { '4h1s': 'stag-hunt/4x4-4h1s', '4h2s': 'stag-hunt/4x4-4h2s', snowdrift: 'snowdrift' } as const;
export type Part = keyof typeof games;

/** Where runs are kept, and where results are. */
export const home = {
  runs: join(process.cwd(), 'build', 'hop-adapt'),
  results: join(process.cwd(), 'bench', 'hop', 'results'),
};
export type Home = typeof home;

export interface Result {
  /** Per episode of a life: the mean over lives. */
  curve: number[];
  /** After learning beside them; absent in self-play. */
  learnt?: number;
}

export const resultsOf = ({ results }: Home, part: Part) => new Results<Result>(join(results, `${part}.json`));
export const nameOf = (algorithm: string, label: string) => `${algorithm} beside ${label}`;

export const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** One game and seed. */
export class Meeting {
  constructor(
    private readonly say: (line: string) => void,
    private readonly engine: Engine,
    private readonly home: Home,
    private readonly part: Part,
    private readonly seed: number,
    private readonly sizes: AdaptSizes,
  ) {}

  private runOf(algorithm: string): string {
    return join(this.home.runs, `${this.part}-${algorithm}-${this.seed}`);
  }

  private settingsOf(algorithm: string) {
    const game = games[this.part];
    return mergeSettings(
      recommendedSettings(game, algorithm) as Record<string, unknown>,
      this.sizes.settings(algorithm, this.part),
      {
        game,
        algorithm,
        seed: this.seed,
        guard: 'off',
        recording: { record: 'off' },
      },
    );
  }

  private async train(algorithm: Algorithm): Promise<void> {
    const run = this.runOf(algorithm);
    if (existsSync(`${run}.whole`)) return;
    this.say(`${this.part}: ${algorithm}, seed ${this.seed} ...`);
    // What was stopped half-way is begun anew.
    rmSync(run, { recursive: true, force: true });
    (await trainInto(run, this.settingsOf(algorithm), { engine: this.engine })).dispose();
    await writeWhole(`${run}.whole`, []);
  }

  async meet(algorithm: Algorithm, label: string): Promise<void> {
    const results = resultsOf(this.home, this.part);
    if (results.has(nameOf(algorithm, label), this.seed)) return;
    for (const one of [algorithm, ...algorithms.filter((other) => other === label)]) await this.train(one);
    const [lives, episodes] = [this.sizes.lives(this.part), this.sizes.episodes(this.part)];
    const own = `frozen ${this.runOf(algorithm)}`;
    const result: Result = { curve: [] };
    const options = { worlds: lives, episodes, seed: 1000 + this.seed };
    const settings = readSettings(this.settingsOf(algorithm));
    if (label === algorithm || label === alone) {
      const player = label === alone ? own.replace('frozen', 'frozen without planner') : own;
      const players = [player, player, player, player];
      const origins = await readOrigins({ ...settings, players });
      const results = playMatch(this.engine, settings, players, origins, options);
      result.curve = [mean(results.means(players.length).map((agent) => agent.mean))];
    } else {
      const partner = (algorithms as readonly string[]).includes(label) ? `frozen ${this.runOf(label)}` : label;
      const players = [own, partner, partner, partner];
      const origins = await readOrigins({ ...settings, players });
      const results = playMatch(this.engine, settings, players, origins, options);
      result.curve = curveOf(results, lives, episodes).map((episode) => episode.mean);
      result.learnt = await this.learn(algorithm, partner);
    }
    await results.put(nameOf(algorithm, label), this.seed, result);
  }

  /** The return of HOP's agent beside three partners, if its search were set otherwise. */
  async decidingAs(partner: string, planner: Partial<PlannerSettings>): Promise<number> {
    await this.train('hop-planner');
    const settings = readSettings(this.settingsOf('hop-planner'));
    const players = [`frozen ${this.runOf('hop-planner')}`, partner, partner, partner];
    const origins = await readOrigins({ ...settings, players });
    const changed = Object.entries(origins).map(([key, origin]) => {
      const { seat } = origin;
      return [key, { ...origin, seat: { ...seat, planner: { ...seat.planner, ...planner } } }] as const;
    });
    const options = { worlds: this.sizes.lives(this.part), episodes: this.sizes.episodes(this.part), seed: 1001 };
    return playMatch(this.engine, settings, players, Object.fromEntries(changed), options).means(players.length)[0]
      .mean;
  }

  /** Goes on learning beside the partners for a few decisions, and is then judged on fresh episodes. */
  private async learn(algorithm: Algorithm, partner: string): Promise<number> {
    return this.judge(await this.learnt(algorithm, partner, this.sizes.steps));
  }

  private async learnt(algorithm: Algorithm, partner: string, steps: number): Promise<Trainer> {
    const players = [`from ${this.runOf(algorithm)}`, partner, partner, partner];
    const settings = mergeSettings(this.settingsOf(algorithm), {
      players,
      steps: Math.max(1, steps),
      worlds: 8,
      rollout: 32,
      seed: 1000 + this.seed,
    });
    const trainer = new Trainer(settings, { engine: this.engine, origins: await readOrigins(settings) });
    while (steps > 0 && !trainer.done) await trainer.iterate();
    return trainer;
  }

  private judge(trainer: Trainer): number {
    const worlds = this.sizes.lives(this.part);
    const episodes = worlds * this.sizes.episodes(this.part);
    const judged = { worlds, episodes, seed: 1000 + this.seed, deal: false };
    return playLearnt(trainer, gameMaker(games[this.part]), judged).means(trainer.seating.names.length)[0].mean;
  }

  /** The first agent's return with its own networks, before and after learning, and with the critics of the two exchanged. */
  async exchangingCritics(partner: string): Promise<Record<string, number>> {
    await this.train('hop-planner');
    const before = await this.learnt('hop-planner', partner, 0);
    const after = await this.learnt('hop-planner', partner, this.sizes.steps);
    const own = { 'as it is': this.judge(before), 'after learning': this.judge(after) };
    const [old, adapted] = [criticOf(before.learners[0]), criticOf(after.learners[0])];
    adapted(before.learners[0]);
    old(after.learners[0]);
    return {
      ...own,
      'with the new critic alone': this.judge(before),
      'with all but the new critic': this.judge(after),
    };
  }
}

/** A critic with its normaliser, to be given to another learner of the same shape. */
function criticOf({ policy, normaliser }: Learner): (to: Learner) => void {
  const critic = policy.parameters.flatMap(({ role }, i) => (role === 'critic' ? [[i, policy.read(i)] as const] : []));
  const numbers = normaliser.save();
  return (to) => {
    for (const [i, values] of critic) to.policy.write(i, values);
    to.normaliser.load([...numbers]);
  };
}
