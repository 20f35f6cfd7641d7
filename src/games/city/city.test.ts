import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../math/random.ts';
import { playEpisodes } from '../play.ts';
import { makePlayer, randomPlayer } from '../players.ts';
import { candidateFeatures } from './candidates.ts';
import { SeparableEvolution } from './evolution.ts';
import { evolve } from './evolve.ts';
import { actionOf, City, placementOf, stopAction } from './game.ts';
import { geometry, hub, open, river } from './map.ts';
import { lookAheadPlayer } from './players.ts';
import { type CitySettings, citySettings, dilemmaSettings, parcels, side } from './rules.ts';

const city = (settings: Partial<CitySettings> = {}, worlds = 1) =>
  new City('city', citySettings.parse(settings), worlds);
const row = (parcel: number) => Math.floor(parcel / side);
const column = (parcel: number) => parcel % side;
const apart = (a: number, b: number) => Math.max(Math.abs(row(a) - row(b)), Math.abs(column(a) - column(b)));

/** Buildings of company `owner` within reach of a parcel, counted from their parcels one by one. */
function neighbours(game: City, owner: number, parcel: number, without = -1): number {
  let count = 0;
  for (let b = 0; b < game.city.buildings[0]; b++) {
    if (b === without || game.city.owner[b] !== owner) continue;
    if ([...geometry.cells[game.city.footprint[b]]].some((cell) => apart(cell, parcel) <= 2)) count++;
  }
  return count;
}

/** The rules' monthly revenue less running cost, written out from the tables of the rules. */
function netByHand(owner: number, size: number, distance: number, ind: number, edu: number): number {
  const zone = distance <= 2 ? 0 : distance <= 4 ? 1 : 2;
  if (owner === 0) {
    return (
      [190, 400, 840][size] +
      [1, 2, 4][size] * ([100, 50, 0][zone] + 25 * Math.min(3, edu) - 25 * ind) -
      [100, 180, 300][size]
    );
  }
  return (
    [150, 300, 590][size] +
    [1, 1.5, 3][size] * ([80, 40, 0][zone] + 15 * Math.min(3, ind) - 25 * edu) -
    [70, 120, 190][size]
  );
}

/** Random play of one episode with a look after every step. */
function episode(game: City, seed: number, look: (place: number, choice: number) => void): void {
  const stream = RandomStream.of(seed, 'random');
  game.reset(0, RandomStream.of(seed, 'world'));
  while (game.over[0] === 0) {
    const place = game.turn[0];
    const choice = randomPlayer.act(game, place, stream);
    game.step(Int32Array.of(choice, choice));
    look(place, choice);
  }
}

describe('the city', () => {
  it('has a river, and two hubs at least 4.2 apart and 2 from the edge', () => {
    const game = city();
    for (let seed = 0; seed < 80; seed++) {
      game.reset(0, RandomStream.of(seed, 'map'));
      const ground = [...game.city.ground.subarray(0, parcels)];
      const hubs = ground.flatMap((kind, parcel) => (kind === hub ? [parcel] : []));
      expect(hubs.length).toBe(2);
      for (const at of hubs)
        expect(Math.min(row(at), column(at), side - 1 - row(at), side - 1 - column(at))).toBeGreaterThanOrEqual(2);
      expect(Math.hypot(row(hubs[0]) - row(hubs[1]), column(hubs[0]) - column(hubs[1]))).toBeGreaterThanOrEqual(4.2);
      expect(ground.filter((kind) => kind === river).length).toBe(12);
    }
  });

  it('offers only free buildable footprints in the radius, of sizes that are available, and STOP last', () => {
    const game = city();
    const wrong: string[] = [];
    for (let seed = 0; seed < 6; seed++) {
      episode(game, seed, () => {
        if (game.over[0]) return;
        const place = game.turn[0];
        const month = game.city.month[0];
        const bySize = [0, 0, 0];
        for (let i = 0; i < game.numActions[place] - 1; i++) {
          const at = place * 25 + i;
          const { size, footprint } = placementOf(place, game.subset[at]);
          bySize[size]++;
          for (const cell of geometry.cells[footprint]) {
            if (game.city.ground[cell] !== open) wrong.push(`ground of ${cell}`);
            if (game.city.occupied[cell] !== 0) wrong.push(`${cell} is built on`);
            if (game.city.distance[cell] > 3 + 0.25 * month) wrong.push(`${cell} is too far`);
          }
          const affordable = game.city.cash[place] - game.figures.cost[at] >= -5000;
          if (game.legal[at] !== Number(affordable)) wrong.push(`legality of candidate ${i}`);
        }
        if (game.subset[place * 25 + game.numActions[place] - 1] !== stopAction) wrong.push('STOP is not last');
        const share = month >= 10 ? 8 : month >= 5 ? 12 : 24;
        bySize.forEach((count, size) => {
          if (count > (month >= [0, 5, 10][size] ? share : 0)) wrong.push(`${count} of size ${size} in month ${month}`);
        });
      });
    }
    expect(wrong).toEqual([]);
  });

  it('prices and scores candidates as the rules say, counted anew from the buildings', () => {
    const game = city();
    let compared = 0;
    for (let seed = 0; seed < 4; seed++) {
      episode(game, seed, () => {
        if (game.over[0]) return;
        const place = game.turn[0];
        for (let i = 0; i < game.numActions[place] - 1; i += 5) {
          const at = place * 25 + i;
          const { size, footprint } = placementOf(place, game.subset[at]);
          const top = footprint % parcels;
          const d = game.city.distance[top];
          const ind = neighbours(game, 0, top);
          const edu = neighbours(game, 1, top);
          const land = geometry.cells[footprint].length * (400 * Math.max(0, 1 - d / 7) + 30 * (ind + edu));
          const base = place === 0 ? [1400, 2700, 5200] : [1200, 2200, 3600];
          expect(game.figures.cost[at]).toBeCloseTo(base[size] + land, 8);
          let rent = place === 0 && edu > 0 && !game.city.bankrupt[1] ? -[25, 45, 70][size] : 0;
          let loss = 0;
          let gain = 0;
          for (let b = 0; b < game.city.buildings[0]; b++) {
            const other = game.city.footprint[b] % parcels;
            const months = 30 - game.city.month[0];
            if (![...geometry.cells[footprint]].some((cell) => apart(cell, other) <= 2)) continue;
            const theirSize = game.city.size[b];
            if (game.city.owner[b] === place) loss += months * 25 * (place === 0 ? [1, 2, 4] : [1, 1.5, 3])[theirSize];
            else if (!game.city.bankrupt[1 - place]) {
              const touched = neighbours(game, place, other) < 3;
              if (touched) gain += months * (place === 0 ? 15 * [1, 1.5, 3][theirSize] : 25 * [1, 2, 4][theirSize]);
              if (place === 1 && neighbours(game, 1, other) === 0) rent += [25, 45, 70][theirSize];
            }
          }
          expect(game.figures.net[at]).toBeCloseTo(netByHand(place, size, d, ind, edu) + rent, 8);
          expect(game.figures.ownLoss[at]).toBeCloseTo(loss, 8);
          expect(game.figures.otherGain[at]).toBeCloseTo(gain, 8);
          compared++;
        }
      });
    }
    expect(compared).toBeGreaterThan(500);
  });

  it('moves money as the rules say: every cash balance follows from picks, income, rent and interest', () => {
    const game = city({ cooperation: 0 });
    for (let seed = 10; seed < 16; seed++) {
      const cash = [6000, 5000];
      const total = [0, 0];
      const gone = [false, false];
      let month = 0;
      episode(game, seed, (place) => {
        total[0] += game.reward[0];
        total[1] += game.reward[1];
        cash[place] -= game.extras[1].values[place];
        if (game.city.month[0] === month && game.over[0] === 0) return;
        // A month has closed: book it by hand.
        const flow = [0, 0];
        for (let b = 0; b < game.city.buildings[0]; b++) {
          const { owner, size, footprint, placedIn, distance } = game.city;
          if (month < placedIn[b] + size[b] + 1) continue;
          const top = footprint[b] % parcels;
          const edu = neighbours(game, 1, top, b);
          flow[owner[b]] += netByHand(owner[b], size[b], distance[top], neighbours(game, 0, top, b), edu);
          if (owner[b] === 1 || edu === 0 || gone[0] || gone[1]) continue;
          flow[0] -= [25, 45, 70][size[b]];
          flow[1] += [25, 45, 70][size[b]];
        }
        for (let company = 0; company < 2; company++) {
          if (gone[company]) continue;
          cash[company] += flow[company] + 0.1 * Math.min(0, cash[company]);
          expect(game.city.cash[company]).toBeCloseTo(cash[company], 6);
          gone[company] = cash[company] <= -5000;
          expect(game.city.bankrupt[company]).toBe(gone[company] ? 1 : 0);
        }
        month = game.city.month[0];
      });
      [6000, 5000].forEach((start, company) => {
        const residual = gone[company] ? 0 : game.city.residual(0, company);
        expect(total[company]).toBeCloseTo((cash[company] - start + residual) / 10_000, 5);
      });
    }
  });

  it('adds the share of the other’s reward, and holds back what comes before a first decision', () => {
    const alone = city({ cooperation: 0 });
    const shared = city({ cooperation: 0.5 });
    const sums = [alone, shared].map((game) => {
      const { returns } = playEpisodes(
        game,
        [makePlayer('greedy-profit', game), makePlayer('greedy-profit', game)],
        5,
        3,
      );
      return returns;
    });
    for (let i = 0; i < 10; i += 2) {
      expect(sums[1][i]).toBeCloseTo(sums[0][i] + 0.5 * sums[0][i + 1], 4);
      expect(sums[1][i + 1]).toBeCloseTo(sums[0][i + 1] + 0.5 * sums[0][i], 4);
    }
  });

  it('lets IND move first in even months and EDU in odd ones', () => {
    const game = city();
    const player = makePlayer('greedy-profit', game);
    const starters: number[] = [];
    playEpisodes(game, [player, player], 1, 2, {
      onStep: () => {
        starters[game.city.month[0]] ??= game.turn[0];
      },
    });
    expect(starters).toEqual(Array.from({ length: 30 }, (_, month) => month % 2));
  });

  it('ends a bankrupt company’s episode for good while the other plays on', () => {
    const game = city();
    let seen = 0;
    for (let seed = 0; seed < 30; seed++) {
      const ends = [0, 0];
      let late = 0;
      episode(game, seed, (place) => {
        if (ends[place] > 0) late++;
        for (let company = 0; company < 2; company++) {
          if (ends[company] > 0 && game.reward[company] !== 0) late++;
          ends[company] += game.terminated[company];
        }
      });
      expect([...ends, late]).toEqual([1, 1, 0]);
      if (game.city.bankrupt[0] + game.city.bankrupt[1] === 1) seen++;
    }
    expect(seen).toBeGreaterThan(2);
  });

  it('names every placement by one global id and back', () => {
    for (const [company, size, shapes] of [
      [0, 0, [0]],
      [0, 1, [1, 2]],
      [0, 2, [3]],
      [1, 0, [0]],
      [1, 1, [0]],
      [1, 2, [1, 2]],
    ] as const) {
      for (const shape of shapes) {
        const footprint = shape * parcels + 29;
        expect(placementOf(company, actionOf(company, size, footprint))).toEqual({ size, footprint });
      }
    }
    expect(placementOf(1, stopAction)).toEqual({ size: 3, footprint: -1 });
  });

  it('records what was picked: parcels, cost, score, sequence score and counts', () => {
    const game = city();
    let sequence = [0, 0];
    let before = { count: 0, candidates: [] as number[], cost: 0 };
    game.reset(0, RandomStream.of(8));
    const stream = RandomStream.of(9);
    while (game.over[0] === 0) {
      const place = game.turn[0];
      const choice = randomPlayer.act(game, place, stream);
      const at = place * 25 + choice;
      const action = game.subset[at];
      const score = game.figures.net[at];
      if (game.picks[0] === 0) sequence = sequence.with(place, 0);
      sequence[place] += score;
      before = {
        count: game.numActions[place],
        candidates: [...game.subset.subarray(place * 25, at - choice + game.numActions[place] - 1)],
        cost: game.figures.cost[at],
      };
      game.step(Int32Array.of(choice, choice));
      const values = Object.fromEntries(game.extras.map((column) => [column.name, column]));
      expect(values.cost.values[place]).toBe(before.cost);
      expect(values.score.values[place]).toBe(score);
      expect(values.sequence_score.values[place]).toBeCloseTo(sequence[place], 9);
      expect(values.candidates_count.values[place]).toBe(before.count);
      expect(values.parcels_count.values[place]).toBe(new Set(before.candidates.map((id) => id % parcels)).size);
      const length = values.parcels.lengths![place];
      const expected = action === stopAction ? [] : [...geometry.cells[placementOf(place, action).footprint]];
      expect([...values.parcels.values.slice(place * 4, place * 4 + length)]).toEqual(expected);
    }
  });

  it('makes IND neighbours harm schools in the dilemma', () => {
    const game = new City('city-dilemma', dilemmaSettings.parse({}), 1);
    expect([
      game.settings.eduBonus,
      game.settings.eduBonusCap,
      game.settings.indBonus,
      game.settings.eduCongestion,
    ]).toEqual([-15, 6, 35, 12]);
  });
});

describe('the players of the city', () => {
  it('rank as the ladder says', () => {
    const game = city({}, 4);
    const means = [
      'always-stop',
      'random',
      'greedy-score',
      'greedy-year',
      'greedy-profit',
      'greedy-neighbours',
      'linear',
    ].map((name) => {
      const player = makePlayer(name, game);
      const { returns } = playEpisodes(game, [player, player], 24, 1);
      return returns.reduce((sum, value) => sum + value, 0) / returns.length;
    });
    expect(means[0]).toBe(0);
    for (let i = 1; i < means.length; i++) expect(means[i]).toBeGreaterThan(means[i - 1] + 0.1);
  });

  it('look-ahead leaves the game as it was and chooses a legal candidate', () => {
    const game = city({ months: 4 });
    game.reset(0, RandomStream.of(3));
    const saved = game.save(0);
    const choice = lookAheadPlayer(2).act(game, 0, RandomStream.of(4));
    expect(game.save(0)).toEqual(saved);
    expect(game.legal[choice]).toBe(1);
  });
});

describe('evolution', () => {
  it('finds the top of a stretched bowl', () => {
    const top = [3, -2, 0.5, 7];
    const scale = [1, 10, 0.1, 3];
    const search = new SeparableEvolution([0, 0, 0, 0], 1, 12);
    for (let generation = 0; generation < 150; generation++) {
      const members = search.ask(RandomStream.of(1, 'bowl', generation));
      search.tell(members.map((x) => -x.reduce((sum, value, i) => sum + (scale[i] * (value - top[i])) ** 2, 0)));
    }
    top.forEach((value, i) => {
      expect(search.mean[i]).toBeCloseTo(value, 3);
    });
  });

  it('keeps to its budget of months and repeats itself for one seed', () => {
    const options = { seed: 5, members: 4, episodes: 2, months: 30 * 8 * 2 + 7, sigma: 0.3 };
    const first = evolve(city(), options);
    expect([first.generations, first.months]).toEqual([2, 480]);
    expect(first.weights.length).toBe(2 * candidateFeatures.length);
    expect(evolve(city({}, 3), options).weights).toEqual(first.weights);
    expect(() => evolve(city(), { ...options, months: 100 })).toThrow(/takes 240 months, and the budget is 100/);
  });
});
