/** What must hold of logs: event files read exactly, damage told and what comes before kept, healthy logs silent, no proof claimed, and the true cause of broken runs rarely excluded. */
import { diagnose } from '../../src/doctor/diagnose.ts';
import { findFault } from '../../src/faults/index.ts';
import { RandomStream } from '../../src/math/random.ts';
import { createEngine } from '../../src/net/engine.ts';
import type { Engine } from '../../src/net/types.ts';
import { readEvents } from '../../src/recording/importers/formats/tensorboard.ts';
import { Log } from '../../src/recording/importers/log.ts';
import { bytesSource } from '../../src/recording/source.ts';
import type { SettingsInput } from '../../src/training/settings.ts';
import { bytesField, doubles, event, eventFile, simpleValue, tensorValue, varintField } from '../import/events.ts';
import { asRecording, logOf, logStyles, logText } from '../import/runs.ts';
import { type Figure, figure } from '../support.ts';

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const full = size === 'full';
  say('event files ...');
  const figures = await eventFiles(full ? 200 : 20);
  const engine = await createEngine({ kernel: 'simd', threads: 1 });
  try {
    figures.push(...(await healthyLogs(engine, full, say)), ...(await brokenLogs(engine, full, say)));
  } finally {
    engine.dispose();
  }
  return figures;
}

async function read(bytes: Uint8Array): Promise<Log> {
  const log = new Log();
  await readEvents(bytesSource('events', bytes), log);
  return log;
}

/** Random files by an encoder that shares nothing with the reader: whole, cut off and with one bit flipped. */
async function eventFiles(files: number): Promise<Figure[]> {
  let [exact, cut, flipped, numbers] = [0, 0, 0, 0];
  for (let n = 0; n < files; n++) {
    const stream = RandomStream.of(n, 'event files');
    const values = Array.from({ length: 1 + stream.below(20) }, () => stream.normal());
    const bytes = eventFile(
      ...values.map((value, i) =>
        event(i, i, [
          ['x', i % 2 === 0 ? tensorValue(varintField(1, 2), bytesField(6, doubles(value))) : simpleValue(value)],
        ]),
      ),
    );
    const stored = values.map((value, i) => (i % 2 === 0 ? value : Math.fround(value)));
    const whole = await read(bytes);
    numbers += whole.rows;
    if (whole.notices.length === 0 && same([...whole.value], stored)) exact++;
    const part = await read(bytes.subarray(0, 1 + stream.below(bytes.length - 2)));
    if (same([...part.value], stored.slice(0, part.rows))) cut++;
    bytes[stream.below(bytes.length)] ^= 1 << stream.below(8);
    const damaged = await read(bytes);
    if (damaged.notices.length === 1 && damaged.value.every((value) => stored.includes(value))) flipped++;
  }
  return [
    figure(`event files read exactly, of ${files}`, exact, '', { least: files }, `${numbers} numbers`),
    figure(`cut-off event files of which every whole record is kept, of ${files}`, cut, '', { least: files }),
    figure(`event files with a flipped bit: a sentence and no wrong number, of ${files}`, flipped, '', {
      least: files,
    }),
  ];
}

const same = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length && a.every((value, i) => Object.is(value, b[i]));

const base: SettingsInput = { worlds: 16, rollout: 32, steps: 10_000_000, network: { hidden: [16] } };
const games: SettingsInput[] = [
  { ...base, game: 'echo', gameSettings: { seats: 2 } },
  { ...base, game: 'stag-hunt' },
  { ...base, game: 'cartpole' },
  { ...base, game: 'snowdrift' },
  { ...base, game: 'probe-discount' },
  { ...base, game: 'probe-value' },
  { ...base, game: 'probe-observation-action' },
];
const variants: [string, NonNullable<SettingsInput['ppo']>][] = [
  ['as recommended', {}],
  ['one step per batch', { epochs: 1, minibatches: 1 }],
  ['ten epochs', { epochs: 10, minibatches: 8 }],
  ['fast', { learningRate: 3e-3 }],
  ['annealed', { anneal: true }],
  ['no entropy bonus', { entropyCoefficient: 0 }],
];

async function healthyLogs(engine: Engine, full: boolean, say: (line: string) => void): Promise<Figure[]> {
  let [logs, alarms, claims] = [0, 0, 0];
  for (const game of full ? games : [games[0], games[6]]) {
    for (const [name, ppo] of full ? variants : variants.slice(0, 2)) {
      for (const seed of full ? [1, 2] : [1]) {
        say(`healthy: ${game.game}, ${name}, seed ${seed}`);
        const rows = await logOf(engine, { ...game, ppo, seed }, full ? 60 : 24);
        for (const style of logStyles) {
          const settings: Record<string, number> = name === 'one step per batch' ? { epochs: 1, minibatches: 1 } : {};
          const { verdict, causes, scalars } = await diagnose(await asRecording(logText(rows, style), settings));
          logs++;
          if (causes.length > 0 || scalars!.symptoms.length > 0) {
            alarms++;
            say(`  alarm: ${style}, ${scalars!.symptoms.map(({ summary }) => summary).join('; ')}`);
          }
          if (verdict !== 'not-enough-evidence') claims++;
        }
      }
    }
  }
  return [
    figure(`healthy logs with a symptom or a cause, of ${logs}`, alarms, '', { most: 0 }),
    figure('healthy logs with a verdict beyond what a log can carry', claims, '', { most: 0 }),
  ];
}

/** One agent: a log that averages over several hides what one of them does. */
const alone: SettingsInput = { ...base, game: 'echo', gameSettings: { seats: 1 } };
/** Afterwards the game is solved even with too large a rate, KL falls, and a log shows nothing wrong any more. */
const brokenUpdates = 24;
/** Faults that a log must show: stuck, overshooting or not finite. */
const visible = [
  'optimizer-unbound',
  'learning-rate-tiny',
  'learning-rate-huge',
  'reward-not-a-number',
  'mask-inverted',
  'old-logp-recomputed',
];

async function brokenLogs(engine: Engine, full: boolean, say: (line: string) => void): Promise<Figure[]> {
  let [logs, listed, excluded, claims] = [0, 0, 0, 0];
  for (const id of full ? visible : visible.slice(0, 2)) {
    for (const seed of full ? [1, 2, 3] : [1]) {
      say(`broken: ${id}, seed ${seed}`);
      const fault = findFault(id);
      const rows = await logOf(engine, { ...alone, seed }, brokenUpdates, id);
      const { verdict, causes, scalars } = await diagnose(
        await asRecording(logText(rows, 'cleanrl'), { epochs: 4, minibatches: 4 }),
      );
      logs++;
      if (causes.some((cause) => cause.id === fault.cause)) listed++;
      else say(`  not listed: ${fault.cause}; ${causes.map((cause) => cause.id).join(', ')}`);
      if (scalars!.ruled_out.some((out) => out.id === fault.cause)) excluded++;
      if (verdict !== 'not-enough-evidence') claims++;
    }
  }
  return [
    figure(`broken logs whose cause is among those that fit, of ${logs}`, listed, '', { least: logs }),
    figure('broken logs whose cause is ruled out', excluded, '', { most: 0 }),
    figure('broken logs with a verdict beyond what a log can carry', claims, '', { most: 0 }),
  ];
}
