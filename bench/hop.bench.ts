/** HOP+ with every module beside PPO, end to end: play, imagination, updates and the modules' own training, with default sizes on all the engine's threads. */
import { createEngine } from '../src/net/engine.ts';
import { mergeSettings, recommendedSettings } from '../src/training/recommended.ts';
import { Trainer } from '../src/training/trainer.ts';
import { type Figure, figure, interleaved, median } from './support.ts';

export interface HopBenchSizes {
  /** Iterations before the clock starts: the first have no world model to imagine with, and the longest training of it. */
  warmUp: number;
  iterations: number;
  rounds: number;
  settings: Record<string, unknown>;
}

export const fullHopBench: HopBenchSizes = { warmUp: 16, iterations: 6, rounds: 3, settings: {} };

export async function bench(say: (line: string) => void, sizes: HopBenchSizes = fullHopBench): Promise<Figure[]> {
  const engine = await createEngine();
  try {
    say(`our engine: ${engine.engine}, ${engine.kernel} kernel on ${engine.threads} threads`);
    const trainer = (changes: Record<string, unknown>) =>
      new Trainer(
        mergeSettings(
          recommendedSettings('stag-hunt') as Record<string, unknown>,
          { game: 'stag-hunt', seed: 1 },
          sizes.settings,
          changes,
        ),
        { engine },
      );
    const ppo = trainer({ algorithm: 'ppo' });
    const hop = trainer({ algorithm: 'hop', hop: { without: [] } });
    say('warming up ...');
    for (let i = 0; i < sizes.warmUp; i++) {
      await ppo.iterate();
      await hop.iterate();
    }
    const cold = trainer({ algorithm: 'hop', hop: { without: [] }, seed: 2 });
    let first = performance.now();
    for (let i = 0; i < Math.min(sizes.warmUp, 8); i++) await cold.iterate();
    first = cold.steps / ((performance.now() - first) / 1000);
    const spent = new Map<Trainer, number[]>([
      [ppo, []],
      [hop, []],
    ]);
    const speed = (of: Trainer) => async () => {
      const [steps, begun, before] = [of.steps, performance.now(), process.cpuUsage()];
      for (let i = 0; i < sizes.iterations; i++) await of.iterate();
      const { user, system } = process.cpuUsage(before);
      spent.get(of)!.push((user + system) / (of.steps - steps));
      return (of.steps - steps) / ((performance.now() - begun) / 1000);
    };
    say('side by side ...');
    const [plain, whole] = await interleaved(sizes.rounds, [speed(ppo), speed(hop)]);
    const costOf = (of: Trainer) => median(spent.get(of)!);
    return [
      figure('HOP+ with every module, agent-steps per second end to end', Math.round(whole), '1/s', { least: 20_000 }),
      figure('the same in its first iterations, while the world model is trained most', Math.round(first), '1/s'),
      figure('PPO beside it', Math.round(plain), '1/s'),
      figure('PPO is faster by', plain / whole, 'times'),
      figure('processor time of an agent-step, over that of PPO', costOf(hop) / costOf(ppo), 'times'),
    ];
  } finally {
    engine.dispose();
  }
}
