import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../net/engine.ts';
import type { Engine } from '../../net/types.ts';
import type { SettingsInput } from '../settings.ts';
import { Trainer } from '../trainer.ts';
import { readEntry } from './entry.ts';
import { type Origins, readOrigin } from './origin.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
});
afterAll(() => engine.dispose());

const learning = { hidden: [8], batch: 16, updates: 1 };
const small: SettingsInput = {
  game: 'stag-hunt',
  worlds: 3,
  rollout: 10,
  network: { hidden: [8] },
  ppo: { epochs: 1, minibatches: 2 },
  hop: {
    worldModel: { ...learning, members: 1 },
    otherAgents: learning,
    subgoals: { ...learning, size: 2 },
    imagination: { longest: 2, error: 1 },
  },
  guard: 'strict',
};
const make = (players: string[], more: SettingsInput = {}, origins: Origins = {}) =>
  new Trainer({ ...small, ...more, players }, { engine, origins });

/** A trained run's agents, under the name of a folder. */
async function trained(players: string[], who: string[]): Promise<{ trainer: Trainer; origins: Origins }> {
  const trainer = make(players);
  await trainer.iterate();
  await trainer.iterate();
  const bytes = await trainer.save();
  const origins = Object.fromEntries(
    who.map((agent) => [`runs/a#${agent}`, readOrigin(bytes, { run: 'runs/a', agent }, agent)]),
  );
  return { trainer, origins };
}

describe('an entry of players', () => {
  it('says in words who sits there', () => {
    expect(readEntry('nearest-stag')).toMatchObject({ scripted: 'nearest-stag', frozen: false });
    expect(readEntry('learn')).toMatchObject({ scripted: null, algorithm: null });
    expect(readEntry('hop without subgoals+world-model with ppo.clip=0.1')).toMatchObject({
      algorithm: 'hop',
      without: ['subgoals', 'world-model'],
      sets: ['ppo.clip=0.1'],
    });
    expect(readEntry('frozen my runs/a#player_2')).toMatchObject({
      frozen: true,
      origin: { run: 'my runs/a', agent: 'player_2' },
    });
    expect(readEntry('frozen without planner+models my runs/a')).toMatchObject({
      frozen: true,
      without: ['planner', 'models'],
      origin: { run: 'my runs/a', agent: null },
    });
    expect(readEntry('ppo from runs/b')).toMatchObject({ algorithm: 'ppo', origin: { run: 'runs/b', agent: null } });
  });

  it.each([
    ['random without subgoals', /random is a scripted player, and nothing can follow it/],
    ['hop minus subgoals', /"minus" is not understood; after an algorithm come/],
    ['frozen', /the folder of a run is missing/],
  ])('refuses "%s" in a sentence', (text, message) => {
    expect(() => readEntry(text)).toThrow(message);
  });
});

describe('a line-up', () => {
  it('trains every seat by its own algorithm, with its own modules and settings', async () => {
    const players = ['hop', 'hop without subgoals', 'mappo with ppo.learningRate=0.01', 'ppo'];
    const trainer = make(players);
    const { observation } = trainer.game.shape;
    const widths = trainer.learners.map(({ inputs }) => inputs - observation);
    expect(widths).toEqual([3 * 7 + 2, 3 * 7, 0, 0]);
    expect(trainer.learners.map(({ view }) => view.width > 0)).toEqual([false, false, true, false]);
    const before = trainer.learners.map(({ policy }) => policy.read(0));
    const { modules, returns } = await trainer.iterate();
    await trainer.iterate();
    expect(returns.length).toBe(4);
    expect(modules.map((values) => Object.keys(values).length > 0)).toEqual([true, true]);
    trainer.learners.forEach(({ policy, updates }, i) => {
      expect(policy.read(0)).not.toEqual(before[i]);
      expect(updates).toBe(2);
    });
    expect(trainer.manifest().agents).toEqual([
      { name: 'player_1', policy: 0, seat: players[0], algorithm: 'hop' },
      { name: 'player_2', policy: 1, seat: players[1], algorithm: 'hop' },
      { name: 'player_3', policy: 2, seat: players[2], algorithm: 'mappo' },
      { name: 'player_4', policy: 3, seat: players[3], algorithm: 'ppo' },
    ]);
  });

  it('gives a ppo agent among others the very policy that it has among its like', async () => {
    const alone = make(['ppo', 'ppo', 'ppo', 'ppo']);
    const among = make(['ppo', 'hop', 'mappo', 'random']);
    expect(among.learners[0].policy.save().values).toEqual(alone.learners[0].policy.save().values);
    expect(among.learners[0].inputs).toBe(alone.learners[0].inputs);
  });

  it('plays frozen agents of another run, models and all, and never changes them', async () => {
    const { trainer: source, origins } = await trained(['hop', 'ppo', 'random', 'random'], ['player_1', 'player_2']);
    const trainer = make(['frozen runs/a#player_1', 'ppo', 'frozen runs/a#player_2', 'random'], {}, origins);
    expect(trainer.learners.map(({ name }) => name)).toEqual(['player_2']);
    const frozen = () => trainer.seated.slice(1).map(({ policy }) => policy.save().values);
    const brought = frozen();
    expect(brought).toEqual(source.learners.map(({ policy }) => policy.save().values));
    const { rows } = await trainer.iterate();
    await trainer.iterate();
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThanOrEqual(30);
    expect(frozen()).toEqual(brought);
    expect(trainer.manifest().agents?.[0]).toEqual({ name: 'player_1', player: 'frozen runs/a#player_1' });
  });

  it('plays a frozen planner without its search, by its networks alone', async () => {
    const { trainer: source, origins } = await trained(['hop-planner', 'random', 'random', 'random'], ['player_1']);
    const trainer = make(['ppo', 'frozen without planner runs/a#player_1', 'random', 'random'], {}, origins);
    expect(trainer.seated.map(({ searches }) => searches)).toEqual([false, false]);
    expect(trainer.seated[1].policy.save().values).toEqual(source.learners[0].policy.save().values);
    await trainer.iterate();
  });

  it('goes on with an agent of another run as it was, and a saved run goes on bit for bit', async () => {
    const { trainer: source, origins } = await trained(['hop', 'ppo', 'random', 'random'], ['player_1', 'player_2']);
    const players = ['from runs/a#player_1', 'from runs/a#player_2 ', 'frozen runs/a#player_2', 'hop'];
    const trainer = make(players, {}, origins);
    expect(trainer.learners[0].policy.save()).toEqual(source.learners[0].policy.save());
    await trainer.iterate();
    const bytes = await trainer.save();
    await trainer.iterate();
    const again = make(players, {}, origins);
    again.load(bytes);
    await again.iterate();
    expect(again.learners.map(({ policy }) => policy.save())).toEqual(
      trainer.learners.map(({ policy }) => policy.save()),
    );
  });

  it('refuses in a sentence what does not fit', async () => {
    const { origins } = await trained(['hop', 'ppo', 'random', 'random'], ['player_1', 'player_2']);
    const bad =
      (players: string[], more: SettingsInput = {}) =>
      () =>
        make(players, more, origins);
    const rest = ['learn', 'learn', 'learn'];
    expect(bad(['hop', ...rest], { sharing: 'shared' })).toThrow(/one policy, but player_1 is "hop" and player_2 is/);
    expect(bad(['ppo without subgoals', ...rest])).toThrow(/ppo has no modules that could be left out/);
    expect(bad(['hop without memory', ...rest])).toThrow(/hop\.without\.0: /);
    expect(bad(['ppo with ppo.gamma=0.9', ...rest])).toThrow(/ppo\.gamma is one for the whole run/);
    expect(bad(['ppo with seed=2', ...rest])).toThrow(/a seat may have ppo\., hop\., planner\., network\. settings/);
    expect(bad(['hop from runs/a#player_2', ...rest])).toThrow(/was trained by ppo and cannot go on as hop/);
    expect(bad(['frozen without subgoals runs/a#player_1', ...rest])).toThrow(
      /was trained by hop and keeps the modules it has; only a frozen hop-planner/,
    );
    expect(bad(['frozen runs/b', ...rest])).toThrow(/the run runs\/b was not read/);
    expect(bad(['frozen runs/a#player_1', ...rest], { gameSettings: { width: 5 } })).toThrow(
      /was trained on stag-hunt, which has 128 observation where stag-hunt has 160; it cannot play here/,
    );
    expect(bad(['frozen runs/a#player_1', 'random', 'random', 'random'])).toThrow(/no agent learns/);
  });
});
