/** The native engine beside WASM on one thread, in processor time: ratios that a busy machine leaves nearly as they are. */
import { createEngine } from '../../src/net/engine.ts';
import type { Engine } from '../../src/net/types.ts';
import { type Figure, figure, interleaved } from '../support.ts';
import { ourForward, ourLoop, ourUpdate } from './ours.ts';
import { narrow, type Sizes, updateFlops, wide } from './sizes.ts';

export async function engineSpeeds(say: (line: string) => void, sizes: Sizes): Promise<Figure[]> {
  const wasm = await createEngine({ engine: 'wasm', threads: 1 });
  const native = await createEngine({ threads: 1 });
  try {
    if (native.engine !== 'native') {
      say('the native engine is not there; trueline engine says why');
      return [];
    }
    say('the native engine and WASM in turn, on one thread ...');
    const turn = sizes.full ? 5 : 1;
    const many = sizes.full ? 2000 : 10;
    const tasks: { what: string; repeat: number; flops?: number; run: (engine: Engine) => () => unknown }[] = [
      ...[sizes.strawRows, sizes.narrowRows].map((rows) => ({
        what: `update of ${rows} rows, 128-128`,
        repeat: turn,
        flops: updateFlops(rows, wide),
        run: (engine: Engine) => ourUpdate(engine, rows, wide, turn),
      })),
      {
        what: `update of ${sizes.narrowRows} rows, 64-64`,
        repeat: turn,
        flops: updateFlops(sizes.narrowRows, narrow),
        run: (engine) => ourUpdate(engine, sizes.narrowRows, narrow, turn),
      },
      { what: 'decisions of 4 rows, 128-128', repeat: many, run: (engine) => ourForward(engine, 4, wide, many) },
      { what: 'loop, 128-128', repeat: 1, run: (engine) => ourLoop(engine, sizes.loop, wide) },
      { what: 'loop, 64-64', repeat: 1, run: (engine) => ourLoop(engine, sizes.loop, narrow) },
    ];
    const figures: Figure[] = [];
    for (const { what, repeat, flops, run } of tasks) {
      const contestants = [wasm, native].map((engine) => processorTime(run(engine), repeat));
      for (const contestant of contestants) await contestant();
      const [slow, fast] = await interleaved(sizes.full ? 5 : 1, contestants);
      const told = (seconds: number) =>
        flops ? `${(flops / seconds / 1e9).toFixed(0)} GFLOP/s` : `${(seconds * 1e6).toPrecision(3)} us`;
      figures.push(figure(`${what}, native over WASM`, slow / fast, 'x', undefined, `${told(fast)} and ${told(slow)}`));
    }
    return figures;
  } finally {
    wasm.dispose();
    native.dispose();
  }
}

function processorTime(run: () => unknown, repeat: number): () => Promise<number> {
  return async () => {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6 / repeat;
  };
}
