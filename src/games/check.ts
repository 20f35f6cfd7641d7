/** The checker of games, for any author of one: shapes, legality, determinism, ends and exact relabelling. It plays legal actions at random, so it finds faults and cannot prove their absence. */
import { told } from '../language/language.ts';
import { RandomStream } from '../math/random.ts';
import { firstDifference, snapshot } from './check-snapshot.ts';
import { checkStep, EpisodeWatch } from './check-step.ts';
import type { Game, GameMaker } from './game.ts';

export interface CheckOptions {
  /** Episodes that each check plays. */
  readonly episodes?: number;
  readonly seed?: number;
  /** Parallel worlds in the checks that need several. */
  readonly worlds?: number;
  /** Permutations of the seats that are tried per episode; all of them where there are no more. */
  readonly permutations?: number;
}

export interface GameReport {
  readonly ok: boolean;
  /** What is wrong, a sentence each, every kind once. */
  readonly findings: readonly string[];
  /** What could not be checked, and why. */
  readonly notChecked: readonly string[];
}

/**
 * Plays a game in many ways and says what is wrong with it.
 *
 * @example
 * const { ok, findings } = checkGame((worlds) => new MyGame(worlds));
 */
export function checkGame(make: GameMaker, options: CheckOptions = {}): GameReport {
  const { episodes = 8, seed = 0, worlds = 3, permutations = 6 } = options;
  const findings: string[] = [];
  const notChecked: string[] = [];
  const guarded = (what: string, check: () => string | undefined) => {
    try {
      const finding = check();
      if (finding !== undefined) findings.push(finding);
      return finding === undefined;
    } catch (error) {
      findings.push(`${what}: the game threw "${error instanceof Error ? error.message : String(error)}"`);
      return false;
    }
  };
  let sound = guarded('shapes', () => checkShapes(make, worlds));
  if (sound) sound = guarded('play', () => checkPlay(make, episodes, seed, worlds));
  if (sound) {
    guarded('determinism', () => checkRepeat(make, episodes, seed));
    guarded('worlds', () => checkWorlds(make, episodes, seed, worlds));
    guarded('save and load', () => checkSave(make, episodes, seed, worlds));
    const game = make(1);
    if (game.relabel) guarded('relabelling', () => checkRelabel(make, episodes, seed, permutations));
    else if (game.shape.seats > 1 && !game.shape.roles) {
      notChecked.push('relabelling: the seats are alike (no roles) but the game has no relabel');
    }
  } else notChecked.push('everything after the first finding, which must be mended first');
  return { ok: findings.length === 0, findings, notChecked };
}

/**
 * Throws with every finding, a line each; for an author's own tests.
 *
 * @example
 * it('is a game', () => assertGame((worlds) => new MyGame(worlds)));
 */
export function assertGame(make: GameMaker, options: CheckOptions = {}): void {
  const report = checkGame(make, options);
  if (!report.ok)
    throw new Error(`The game does not keep the rules of the interface:\n- ${report.findings.join('\n- ')}`);
}

function checkShapes(make: GameMaker, worlds: number): string | undefined {
  const game = make(worlds);
  const { seats, observation, state, actions, candidates, features, horizon, roles } = game.shape;
  if (game.worlds !== worlds) return `shapes: asked for ${worlds} worlds, the game has ${game.worlds}`;
  const sizes = { seats, observation, state, actions, candidates, horizon };
  for (const [name, value] of Object.entries(sizes)) {
    if (!Number.isInteger(value) || value < 1)
      return `shapes: shape.${name} is ${value}; it must be a whole number of at least 1`;
  }
  if (!Number.isInteger(features) || features < 0)
    return `shapes: shape.features is ${features}; it must be a whole number of at least 0`;
  if (candidates > actions) return `shapes: ${candidates} candidates cannot be distinct among ${actions} actions`;
  if (roles && roles.length !== seats) return `shapes: ${roles.length} roles are named for ${seats} seats`;
  const places = worlds * seats;
  const lengths: [string, ArrayLike<number>, number][] = [
    ['acting', game.acting, places],
    ['obs', game.obs, places * observation],
    ['numActions', game.numActions, places],
    ['subset', game.subset, places * candidates],
    ['legal', game.legal, places * candidates],
    ['candidateFeatures', game.candidateFeatures, places * candidates * features],
    ['reward', game.reward, places],
    ['terminated', game.terminated, places],
    ['truncated', game.truncated, places],
    ['state', game.state, worlds * state],
    ['over', game.over, worlds],
  ];
  for (const column of game.extras ?? []) {
    lengths.push([`extras ${column.name}`, column.values, places * column.width]);
    if (column.lengths) lengths.push([`extras ${column.name} lengths`, column.lengths, places]);
  }
  for (const [name, array, expected] of lengths) {
    if (array.length !== expected)
      return `shapes: ${name} has ${array.length} entries, ${expected} are expected from the shape`;
  }
  return undefined;
}

/** Streams of one episode, by name, so that any two games can be given the same one: the world's, and the choices'. */
function episodeStreams(seed: number, episode: number): { world: RandomStream; choices: RandomStream } {
  return {
    world: RandomStream.of(seed, 'check', 'world', episode),
    choices: RandomStream.of(seed, 'check', 'choices', episode),
  };
}

/**
 * Legal choices for all acting places of a world. Ties hide from independent random play, so in two steps of three the seats act
 * alike: all by the same draw, or all take their last legal candidate.
 */
function chooseAll(game: Game, world: number, stream: RandomStream, actions: Int32Array): void {
  const { seats, candidates } = game.shape;
  const manner = stream.below(3);
  const shared = stream.uniform();
  for (let seat = 0; seat < seats; seat++) {
    const place = world * seats + seat;
    if (game.acting[place] === 0) continue;
    const legal: number[] = [];
    for (let i = 0; i < game.numActions[place]; i++) if (game.legal[place * candidates + i] === 1) legal.push(i);
    const draw = manner === 0 ? stream.uniform() : shared;
    actions[place] = manner === 2 ? legal[legal.length - 1] : legal[Math.floor(draw * legal.length)];
  }
}

function checkPlay(make: GameMaker, episodes: number, seed: number, worlds: number): string | undefined {
  const game = make(worlds);
  const { seats, horizon } = game.shape;
  const actions = new Int32Array(worlds * seats);
  let begun = 0;
  const watches: (EpisodeWatch | undefined)[] = new Array(worlds);
  const streams: RandomStream[] = new Array(worlds);
  const begin = (world: number): string | undefined => {
    const own = episodeStreams(seed, begun++);
    game.reset(world, own.world);
    streams[world] = own.choices;
    const watch = new EpisodeWatch(game, world);
    watches[world] = watch;
    return checkStep(game, world, watch);
  };
  for (let world = 0; world < worlds; world++) {
    const finding = begin(world);
    if (finding) return finding;
  }
  let ended = 0;
  for (let step = 0; ended < episodes; step++) {
    // Every seat takes at most `horizon` decisions, one after the other at worst.
    if (step > (episodes + worlds) * seats * horizon) {
      return `ends: an episode goes on after ${seats} x ${horizon} steps, the most that shape.horizon allows`;
    }
    for (let world = 0; world < worlds; world++) chooseAll(game, world, streams[world], actions);
    const finished = watches.indexOf(undefined);
    const kept = finished >= 0 ? game.save(finished) : undefined;
    for (let world = 0; world < worlds; world++) watches[world]?.decide();
    game.step(actions);
    if (kept && game.save(finished).some((value, i) => !Object.is(value, kept[i]))) {
      return `ends: stepping changed world ${finished}, whose episode was over`;
    }
    for (let world = 0; world < worlds; world++) {
      const watch = watches[world];
      if (!watch) {
        // Rested for one step, to see that nothing touches it; now it plays again.
        const finding = begin(world);
        if (finding) return finding;
        continue;
      }
      const finding = checkStep(game, world, watch);
      if (finding) return finding;
      if (game.over[world] === 1) {
        ended++;
        watches[world] = undefined;
      }
    }
  }
  return undefined;
}

/** Plays one episode in one world and gives what it showed after every step. */
function trace(game: Game, world: number, seed: number, episode: number): Float64Array[] {
  const { seats } = game.shape;
  const streams = episodeStreams(seed, episode);
  const actions = new Int32Array(game.worlds * seats);
  game.reset(world, streams.world);
  const shown = [snapshot(game, world)];
  while (game.over[world] === 0) {
    for (let other = 0; other < game.worlds; other++) {
      // The other worlds play too; what they play must not matter.
      if (other === world) continue;
      const beside = RandomStream.of(seed, 'check', 'beside', episode, shown.length, other);
      if (game.over[other] === 1) game.reset(other, beside);
      chooseAll(game, other, beside, actions);
    }
    chooseAll(game, world, streams.choices, actions);
    game.step(actions);
    shown.push(snapshot(game, world));
  }
  return shown;
}

function compareTraces(game: Game, a: Float64Array[], b: Float64Array[]): string | undefined {
  for (let step = 0; step < Math.min(a.length, b.length); step++) {
    const difference = firstDifference(game, a[step], b[step]);
    if (difference) return `after ${step} steps ${difference}`;
  }
  return a.length === b.length ? undefined : `one lasted ${a.length - 1} steps and the other ${b.length - 1}`;
}

function checkRepeat(make: GameMaker, episodes: number, seed: number): string | undefined {
  const used = make(1);
  for (let episode = 0; episode < episodes; episode++) {
    const fresh = make(1);
    const first = trace(fresh, 0, seed, episode);
    const difference = compareTraces(fresh, first, trace(used, 0, seed, episode));
    if (difference) return `determinism: the same stream and choices gave two different episodes: ${difference}`;
  }
  return undefined;
}

function checkWorlds(make: GameMaker, episodes: number, seed: number, worlds: number): string | undefined {
  for (let episode = 0; episode < episodes; episode++) {
    const alone = make(1);
    const many = make(worlds);
    const difference = compareTraces(
      alone,
      trace(alone, 0, seed, episode),
      trace(many, episode % worlds, seed, episode),
    );
    if (difference) return `worlds: an episode went differently beside ${worlds - 1} other worlds: ${difference}`;
  }
  return undefined;
}

function checkSave(make: GameMaker, episodes: number, seed: number, worlds: number): string | undefined {
  const stream = RandomStream.of(seed, 'check', 'when to save');
  for (let episode = 0; episode < episodes; episode++) {
    const original = make(1);
    const length = trace(original, 0, seed, episode).length;
    const stop = stream.below(length);
    const streams = episodeStreams(seed, episode);
    const actions = new Int32Array(original.shape.seats);
    original.reset(0, streams.world);
    for (let step = 0; step < stop; step++) {
      chooseAll(original, 0, streams.choices, actions);
      original.step(actions);
    }
    const copy = make(worlds);
    const world = episode % worlds;
    // Through text, as a checkpoint keeps it.
    copy.load(world, JSON.parse(JSON.stringify(original.save(0))) as number[]);
    const finding = together(original, copy, world, streams.choices, undefined);
    if (finding) return `save and load: after loading at step ${stop}, ${finding}`;
  }
  return undefined;
}

/** Exact relabelling alone: where outcomes did not move with the seats, in words. Only for games that can relabel. */
export function checkRelabel(
  make: GameMaker,
  episodes: number,
  seed: number,
  permutations: number,
): string | undefined {
  const { seats } = make(1).shape;
  const stream = RandomStream.of(seed, 'check', 'relabel');
  for (let episode = 0; episode < episodes; episode++) {
    const original = make(1);
    const length = trace(original, 0, seed, episode).length;
    for (const permutation of somePermutations(seats, permutations, stream)) {
      const streams = episodeStreams(seed, episode);
      const actions = new Int32Array(seats);
      original.reset(0, streams.world);
      const stop = stream.below(2) * stream.below(length);
      for (let step = 0; step < stop; step++) {
        chooseAll(original, 0, streams.choices, actions);
        original.step(actions);
      }
      const copy = make(1);
      copy.load(0, original.save(0));
      copy.relabel?.(0, permutation);
      const finding = together(original, copy, 0, streams.choices, permutation);
      const order = permutation.join(', ');
      if (finding)
        return `relabelling: ${told(`with the seats permuted as [${order}] at step ${stop}, ${finding}`, `在第 ${stop} 步按 [${order}] 交换位置，${finding}`)}`;
    }
  }
  return undefined;
}

/** Plays world 0 of one game and a world of its copy with the same choices, permuted where asked, and says where they part. */
function together(
  original: Game,
  copy: Game,
  world: number,
  stream: RandomStream,
  permutation: readonly number[] | undefined,
): string | undefined {
  const { seats } = original.shape;
  const actions = new Int32Array(seats);
  const copied = new Int32Array(copy.worlds * seats);
  copy.over.fill(1, 0, world);
  copy.over.fill(1, world + 1);
  for (let step = 0; ; step++) {
    const difference = firstDifference(original, snapshot(original, 0, permutation), snapshot(copy, world));
    if (difference) return told(`${step} steps later ${difference}`, `${step} 步之后 ${difference}`);
    if (original.over[0] === 1) return undefined;
    chooseAll(original, 0, stream, actions);
    for (let seat = 0; seat < seats; seat++)
      copied[world * seats + seat] = actions[permutation ? permutation[seat] : seat];
    original.step(actions);
    copy.step(copied);
  }
}

/** All permutations of few seats, otherwise so many random ones; never only the identity. */
function somePermutations(seats: number, limit: number, stream: RandomStream): number[][] {
  const some: number[][] = [];
  let all = 1;
  for (let i = 2; i <= seats; i++) all *= i;
  if (all <= limit) {
    const extend = (head: number[]) => {
      if (head.length === seats) some.push(head);
      for (let next = 0; next < seats; next++) if (!head.includes(next)) extend([...head, next]);
    };
    extend([]);
    return some;
  }
  while (some.length < limit) some.push([...stream.shuffle(Int32Array.from({ length: seats }, (_, i) => i))]);
  return some;
}
