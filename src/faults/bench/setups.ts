/** The runs that the bench trains: small ones of every game and head, with settings drawn from the seed. A fault and its clean twin share a setup, so that only the fault is between them. */
import { gameEntry, makeGame } from '../../games/index.ts';
import { RandomStream } from '../../math/random.ts';
import { BadInput } from '../../recording/bad-input.ts';
import type { SettingsInput } from '../../training/settings.ts';
import { between, magnitude, rounded, whole } from '../fault.ts';

export const heads = ['fixed', 'pointer'] as const;
export type Head = (typeof heads)[number];

export interface Setup {
  game: string;
  head: Head;
  seed: number;
}

/** Iterations of a run of the bench, all of them recorded whole. */
export const iterations = 5;

/** How much of a game one iteration plays, and what of the game may differ between seeds. */
interface Measure {
  worlds: number;
  rollout: number;
  collect?: 'episodes';
  game?: (stream: RandomStream) => Record<string, unknown>;
}

const measures: Readonly<Record<string, Measure>> = {
  echo: {
    worlds: 12,
    rollout: 24,
    game: (stream) => ({ seats: whole(stream, 2, 4), length: whole(stream, 6, 14), delay: whole(stream, 0, 2) }),
  },
  'stag-hunt': {
    worlds: 12,
    rollout: 24,
    game: (stream) => ({ players: whole(stream, 2, 4), horizon: whole(stream, 12, 30) }),
  },
  snowdrift: {
    worlds: 12,
    rollout: 24,
    game: (stream) => ({ players: whole(stream, 2, 4), horizon: whole(stream, 12, 30) }),
  },
  cartpole: {
    worlds: 12,
    rollout: 24,
    game: (stream) => ({ seats: whole(stream, 2, 3), horizon: whole(stream, 10, 25) }),
  },
  city: { worlds: 4, rollout: 1, collect: 'episodes' },
};

const otherwise: Measure = { worlds: 16, rollout: 24 };

/** The heads that a game can be played with: pointing needs candidates that are known by features. */
export function headsOf(game: string): readonly Head[] {
  return makeGame(game).shape.features > 0 ? heads : ['fixed'];
}

export function requireGames(games: readonly string[]): void {
  for (const game of games) {
    try {
      gameEntry(game);
    } catch (error) {
      throw new BadInput((error as Error).message.replace(/[.。]$/, ''));
    }
  }
}

/** Settings of an ordinary run, from its seed. */
export function setupSettings({ game, head, seed }: Setup): SettingsInput {
  const stream = RandomStream.of(seed, 'bench', game, head);
  const pick = <T>(...choices: readonly T[]): T => choices[stream.below(choices.length)];
  const measure = measures[game] ?? otherwise;
  const gameSettings = measure.game?.(stream) ?? {};
  const ppo = {
    learningRate: rounded(magnitude(stream, 5e-4, 2e-3)),
    epochs: whole(stream, 2, 5),
    minibatches: whole(stream, 2, 5),
    gamma: rounded(between(stream, 0.9, 0.99)),
    lambda: rounded(between(stream, 0.8, 0.97)),
    advantageNormalisation: pick('batch', 'batch', 'minibatch'),
    valueClip: pick(null, null, 0.2),
    valueNormalisation: pick(true, false),
  } as const;
  return {
    ...common(game, measure, gameSettings),
    seed,
    sharing: pick('separate', 'separate', 'separate', 'shared'),
    algorithm: pick('ppo', 'ppo', 'mappo'),
    network: { hidden: pick([32], [16, 16]), activation: pick('tanh', 'tanh', 'relu'), head },
    ppo,
  };
}

/** Healthy runs as different as users' runs are; most take something that the runs above never do. */
export function healthySettings({ game, head, seed }: Setup): SettingsInput {
  const stream = RandomStream.of(seed, 'bench', 'healthy', game, head);
  const pick = <T>(...choices: readonly T[]): T => choices[stream.below(choices.length)];
  const measure = measures[game] ?? otherwise;
  const drawn: Record<string, unknown> = { ...measure.game?.(stream) };
  if ('seats' in drawn || game.startsWith('probe')) drawn.seats = whole(stream, 1, 5);
  const ppo = {
    learningRate: rounded(1e-3 * magnitude(stream, 0.3, 3)),
    epochs: whole(stream, 1, 10),
    minibatches: whole(stream, 1, 16),
    gamma: pick(0, 0.9, 0.95, 0.99, 1),
    lambda: pick(0, 0.8, 0.95, 1),
    advantageNormalisation: pick('batch', 'minibatch', 'none'),
    valueClip: pick(null, 0.2),
    valueNormalisation: pick(true, false),
    valueLoss: pick('mse', 'huber'),
    entropyCoefficient: pick(0, 0.003, 0.01),
    maxGradNorm: pick(0.5, 1, null),
    gradClip: pick('global', 'role'),
    anneal: pick(true, false),
    targetKl: pick(null, null, 0.02),
    adaptiveKl: pick(null, null, null, 0.02),
    advantageClamp: pick(null, null, 3),
  } as const;
  // A run with one update per batch has ratio 1 for ever, and is healthy.
  const single = pick(true, false, false, false);
  return {
    ...common(game, measure, drawn),
    seed,
    sharing: pick('separate', 'shared'),
    algorithm: pick('ppo', 'mappo'),
    order: pick('fixed', 'rotated', 'shuffled'),
    deal: pick(true, false),
    network: { hidden: pick([32], [16, 16], [8]), activation: pick('tanh', 'relu'), head },
    ppo: single ? { ...ppo, epochs: 1, minibatches: 1 } : ppo,
  };
}

function common(game: string, measure: Measure, gameSettings: Record<string, unknown>): SettingsInput {
  const { shape } = makeGame(game, gameSettings);
  const { worlds, rollout, collect = 'steps' } = measure;
  const each = collect === 'steps' ? rollout : rollout * shape.horizon;
  return {
    game,
    gameSettings,
    worlds,
    rollout,
    collect,
    // The trainer is stopped after its iterations; this many steps make it expect as many.
    steps: worlds * each * shape.seats * iterations,
    guard: 'off',
    kernel: 'simd',
    recording: { record: 'all' },
  };
}
