import { describe, expect, it } from 'vitest';
import { RandomStream } from '../math/random.ts';
import { assertGame, checkGame } from './check.ts';
import { EchoGame, echoSettings } from './echo.ts';
import type { Game, GameMaker } from './game.ts';
import { StagHunt, stagHuntSettings } from './grid/stag-hunt.ts';
import { IndependentSeats } from './independent.ts';
import { gameMaker, gameNames } from './index.ts';
import { ProbeGame } from './probes.ts';

// A small field, so that players meet and ties are common.
const crowded = stagHuntSettings.parse({ width: 3, height: 2, players: 3, stags: 1, hares: 2, horizon: 12 });
const echo = echoSettings.parse({ seats: 2, length: 5 });

function findings(make: GameMaker): string {
  return checkGame(make, { episodes: 12 }).findings.join('\n');
}

describe('checkGame', () => {
  it.each(gameNames())('finds nothing wrong with %s', (name) => {
    expect(checkGame(gameMaker(name), { episodes: 3 })).toEqual({ ok: true, findings: [], notChecked: [] });
  });

  it.each([
    ['stag-hunt/8x8-4h1s', { viewRadius: 2 }],
    ['stag-hunt', { width: 3, height: 3, players: 5, stags: 2, hares: 2 }],
    ['snowdrift', { width: 4, height: 4, players: 3, obstacles: 4 }],
    ['echo', { seats: 3, features: 'embedding', delay: 0 }],
    ['cartpole', { seats: 3, horizon: 20 }],
    ['city-dilemma', { cooperation: 1, months: 12 }],
  ])('finds nothing wrong with %s under %j', (name, settings) => {
    expect(checkGame(gameMaker(name, settings), { episodes: 3 }).findings).toEqual([]);
  });

  it('finds a tie broken by the index of the seat', () => {
    class FirstComeFirstServed extends StagHunt {
      protected override settle(world: number): void {
        super.settle(world);
        // Of several who caught the same, only the lowest seat is paid.
        const first = world * this.players;
        for (let a = first; a < first + this.players; a++) {
          for (let b = a + 1; b < first + this.players; b++) {
            const together = this.position[a] === this.position[b] && this.terminated[a] + this.terminated[b] === 2;
            if (together && this.reward[b] > 0 && this.reward[a] > 0) this.reward[b] = 0;
          }
        }
      }
    }
    expect(findings((worlds) => new FirstComeFirstServed(crowded, worlds))).toMatch(/^relabelling:.*reward of seat/);
  });

  it('finds an observation whose other players are not in cyclic order', () => {
    class Unrotated extends StagHunt {
      override show(world: number): void {
        super.show(world);
        const { cells, players } = this;
        for (let seat = 0; seat < players; seat++) {
          const start = (world * players + seat) * this.shape.observation;
          for (let other = 0; other < players; other++) {
            this.obs.fill(0, start + other * cells, start + (other + 1) * cells);
            const place = world * players + other;
            if (this.present[place]) this.obs[start + other * cells + this.position[place]] = 1;
          }
        }
      }
    }
    expect(findings((worlds) => new Unrotated(crowded, worlds))).toMatch(/^relabelling:.*observation of seat/);
  });

  it('finds worlds that share a random stream', () => {
    class SharedDraws extends EchoGame {
      private readonly shared = RandomStream.of(1, 'shared');
      protected override begin(place: number): void {
        super.begin(place, this.shared);
      }
      protected override play(place: number, choice: number): void {
        super.play(place, choice, this.shared);
      }
    }
    const found = findings((worlds) => new SharedDraws(echo, worlds));
    expect(found).toMatch(/determinism:/);
    expect(found).toMatch(/worlds:/);
    expect(found).toMatch(/save and load:/);
  });

  it('finds draws that differ with the number of worlds', () => {
    class CountsWorlds extends EchoGame {
      protected override begin(place: number, stream: RandomStream): void {
        for (let i = 1; i < this.worlds; i++) stream.int32();
        super.begin(place, stream);
      }
    }
    expect(findings((worlds) => new CountsWorlds(echo, worlds))).toMatch(/worlds:/);
  });

  it('finds what a save forgets', () => {
    class Forgetful extends StagHunt {
      override load(world: number, saved: readonly number[]): void {
        super.load(world, saved);
        this.stepsTaken[world] = 0;
      }
    }
    expect(findings((worlds) => new Forgetful(crowded, worlds))).toMatch(/save and load:/);
  });

  it('finds hidden memory that outlives a reset', () => {
    class Remembers extends EchoGame {
      private episodes = 0;
      protected override begin(place: number, stream: RandomStream): void {
        super.begin(place, stream);
        this.obs[place * this.shape.observation] += this.episodes++ / 100;
      }
    }
    expect(findings((worlds) => new Remembers(echo, worlds))).toMatch(/determinism:/);
  });

  it('finds a payment after an end', () => {
    expect(
      findings((worlds) =>
        broken(new StagHunt(crowded, worlds), (game, ended) => {
          for (const place of ended)
            if (game.acting[place] === 0 && game.terminated[place] === 0) game.reward[place] = 1;
        }),
      ),
    ).toMatch(/^ends:.*was paid 1 after its end/);
  });

  it('finds a decision without a legal candidate', () => {
    expect(findings((worlds) => broken(new StagHunt(crowded, worlds), (game) => game.legal.fill(0)))).toMatch(
      /^legality:.*no legal candidate among 7/,
    );
  });

  it.each([
    ['an id out of range', (game: Game) => game.subset.fill(99), /^legality:.*action 99; ids lie in 0 to 6/],
    ['an id that comes twice', (game: Game) => game.subset.fill(3), /^legality: action 3 is twice/],
    ['more candidates than the shape allows', (game: Game) => game.numActions.fill(8), /^legality:.*has 8 candidates/],
    ['an observation that is not finite', (game: Game) => game.obs.fill(Number.NaN), /^finite values:.*NaN/],
    ['a reward that is not finite', (game: Game) => game.reward.fill(Number.POSITIVE_INFINITY), /^rewards:.*Infinity/],
    [
      'a payment before the first decision',
      (game: Game) => game.reward.fill(1),
      /^rewards:.*before its first decision/,
    ],
  ])('finds %s', (_what, fault, expected) => {
    expect(findings((worlds) => broken(new StagHunt(crowded, worlds), fault))).toMatch(expected);
  });

  it('finds an end that is both kinds', () => {
    expect(
      findings((worlds) =>
        broken(new StagHunt(crowded, worlds), (game) => {
          for (let place = 0; place < game.terminated.length; place++) game.truncated[place] |= game.terminated[place];
        }),
      ),
    ).toMatch(/^ends:.*both terminated and truncated/);
  });

  it('finds an over world whose seats never ended, and ended seats whose world is not over', () => {
    const silent = (worlds: number) =>
      broken(new ProbeGame('probe-value', { seats: 2 }, worlds), (game) => game.terminated.fill(0));
    expect(findings(silent)).toMatch(/^ends:.*neither terminated nor truncated/);
    const endless = (worlds: number) =>
      broken(new ProbeGame('probe-value', { seats: 2 }, worlds), (game) => game.over.fill(0));
    expect(findings(endless)).toMatch(/^ends:.*has ended, but it is not over/);
  });

  it('finds an episode longer than its horizon', () => {
    class Endless extends IndependentSeats {
      constructor(worlds: number) {
        super(
          'endless',
          {},
          { seats: 1, observation: 1, actions: 1, candidates: 1, features: 0, horizon: 5 },
          worlds,
          1,
        );
      }
      protected begin(): void {}
      protected play(): void {}
    }
    expect(findings((worlds) => new Endless(worlds))).toMatch(/^ends:.*after 5 decisions, and shape.horizon is 5/);
  });

  it('finds arrays of the wrong length', () => {
    const short = (worlds: number) =>
      Object.assign(Object.create(new StagHunt(crowded, worlds)), { reward: new Float32Array(1) });
    expect(findings(short)).toMatch(/^shapes: reward has 1 entries, 9 are expected/);
  });

  it('reports a game that throws instead of throwing itself', () => {
    const thrower = (worlds: number) =>
      broken(new StagHunt(crowded, worlds), () => {
        throw new Error('out of hares');
      });
    expect(findings(thrower)).toMatch(/the game threw "out of hares"/);
  });

  it('says what it could not check', () => {
    const noRelabel = (worlds: number) => Object.assign(new StagHunt(crowded, worlds), { relabel: undefined });
    expect(checkGame(noRelabel, { episodes: 2 }).notChecked.join()).toMatch(/relabelling: the seats are alike/);
  });

  it('can throw its findings for an author’s own test', () => {
    expect(() => assertGame(gameMaker('echo'))).not.toThrow();
    expect(() => assertGame((worlds) => broken(new StagHunt(crowded, worlds), (game) => game.legal.fill(0)))).toThrow(
      /does not keep the rules of the interface:\n- legality/,
    );
  });
});

/** Spoils a game's outputs after every reset and step; `ended` are the places that have ended so far. */
function broken(game: Game, fault: (game: Game, ended: ReadonlySet<number>) => void): Game {
  const ended = new Set<number>();
  const reset = game.reset.bind(game);
  const step = game.step.bind(game);
  const { seats } = game.shape;
  game.reset = (world, stream) => {
    reset(world, stream);
    for (let seat = 0; seat < seats; seat++) ended.delete(world * seats + seat);
    fault(game, ended);
  };
  game.step = (actions) => {
    step(actions);
    for (let place = 0; place < game.acting.length; place++)
      if (game.terminated[place] + game.truncated[place] > 0) ended.add(place);
    fault(game, ended);
  };
  return game;
}
