import { describe, expect, it } from 'vitest';
import { replayable, replays } from '../../../studio/src/lib/episode.ts';
import { unseen } from '../../../studio/src/lib/stores.ts';
import { memoryStore, Recording, RecordingWriter } from '../../recording/index.ts';
import { train } from '../../training/run.ts';
import { CurveReader } from './curves.ts';

const settings = {
  game: 'stag-hunt',
  seed: 5,
  steps: 4 * 8 * 16 * 3,
  worlds: 8,
  rollout: 16,
  checkpoint: 1,
  kernel: 'simd' as const,
  network: { hidden: [16] },
};

async function record(more: object = {}) {
  const store = memoryStore('run');
  const returns: number[][] = [];
  const result = await train(
    { ...settings, ...more },
    {
      recording: (manifest) => RecordingWriter.create(store, manifest),
      checkpoint: async () => undefined,
      onIteration: (report) => returns.push(report.returns.map((agent) => agent.mean)),
    },
  );
  result.dispose();
  return { store, returns };
}

describe('the curves of a run', () => {
  it('are the same read at once or file by file as the run grows', async () => {
    const { store } = await record();
    const recording = await Recording.open(store);
    const whole = new CurveReader(recording.manifest);
    await whole.read(recording);
    const seen = new Set<string>();
    const growing = new CurveReader(recording.manifest);
    const files = (await store.list()).filter((path) => path !== 'manifest.json');
    for (const path of files) {
      const later = new Set(files.filter((file) => file !== path));
      await growing.read(await Recording.open(unseen(store, later)), (file) => seen.add(file));
    }
    expect(seen.size).toBeGreaterThan(3);
    expect(growing.list()).toEqual(whole.list());
  });

  it('show the mean return of every agent in every iteration, as the trainer reported it', async () => {
    const { store, returns } = await record();
    const recording = await Recording.open(store);
    const reader = new CurveReader(recording.manifest);
    await reader.read(recording);
    const curves = reader.list().filter(({ kind }) => kind === 'return');
    expect(curves.map(({ owner }) => owner)).toEqual(['player_1', 'player_2', 'player_3', 'player_4']);
    for (const [agent, curve] of curves.entries())
      for (const [i, iteration] of curve.iteration.entries())
        expect(curve.value[i]).toBeCloseTo(returns[iteration][agent], 6);
  });
});

describe('a recorded episode', () => {
  it.each([{}, { deal: true }, { players: ['learn', 'nearest-stag', 'learn', 'random'] }])(
    'is played again to the returns that were recorded (%o)',
    async (more) => {
      const { store } = await record(more);
      const recording = await Recording.open(store);
      const episodes = await replayable(recording);
      expect(episodes.length).toBeGreaterThan(5);
      const recorded = new Map<string, number>();
      const table = await recording.read('episodes');
      const columns = ['episode', 'agent', 'return'].map((name) => table.columns.get(name)!.values);
      for (let row = 0; row < table.rows; row++)
        recorded.set(
          `${columns[0][row]} ${recording.manifest.agents![Number(columns[1][row])].name}`,
          Number(columns[2][row]),
        );
      const some = episodes.slice(0, 12);
      const played = await replays(
        recording,
        some.map(({ episode }) => episode),
      );
      for (const [i, { episode, returns }] of some.entries()) {
        const again = played[i];
        for (const agent of again.agents) {
          expect(agent.return).toBeCloseTo(recorded.get(`${episode} ${agent.name}`)!, 5);
          expect(returns[agent.name]).toBe(recorded.get(`${episode} ${agent.name}`));
        }
        expect(again.moments.at(-1)!.thoughts).toEqual([]);
        const chosen = again.moments[0].thoughts[0];
        expect(chosen.probabilities.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 6);
      }
    },
  );
});
