import { describe, expect, it } from 'vitest';
import { Recording } from '../../recording/recording.ts';
import { memoryStore } from '../../recording/source.ts';
import { RecordingWriter } from '../../recording/writer.ts';
import { style } from '../style.ts';
import { probesOf } from './probes.ts';

const f = (values: number[]) => Float64Array.from(values);

/** One policy, six updates, of which the third and the fourth have the probe. */
async function recorded(probe: string): Promise<Recording> {
  const store = memoryStore('run');
  const writer = await RecordingWriter.create(store, { format: 'trueline/1', policies: [{ name: 'IND' }] });
  const iteration = [0, 1, 2, 3, 4, 5];
  const zeros = f(iteration.map(() => 0));
  await writer.append('steps', {
    iteration: f(iteration),
    epoch: zeros,
    minibatch: zeros,
    probe: iteration.map((at) => (at === 2 || at === 3 ? probe : '')),
  });
  const kl = [0.001, 0.003, 0.1, 0.3, 0.002, 0.004];
  await writer.append('scalars', {
    name: iteration.flatMap(() => ['k3', 'entropy']),
    value: f(iteration.flatMap((at) => [kl[at], 1 - at / 10])),
    iteration: f(iteration.flatMap((at) => [at, at])),
    policy: f(iteration.flatMap(() => [0, 0])),
  });
  await writer.close();
  return Recording.open(store);
}

describe('the probes of a recording', () => {
  it('stand side by side, before, during and after, in the terminal and on the page alike', async () => {
    const effects = await probesOf(await recorded('temperature'));
    const text = effects.text(['IND'], style(false));
    expect(text).toMatch(
      /temperature +IND +0\.002 \/ 0\.2 \/ 0\.003 +- \/ - \/ - +- \/ - \/ - +0\.95 \/ 0\.75 \/ 0\.55/,
    );
    const page = effects.html(['IND']);
    for (const cell of ['temperature', 'IND', '0.002 / 0.2 / 0.003', '0.95 / 0.75 / 0.55'])
      expect(page).toContain(`>${cell}<`);
  });

  it('are escaped, and absent where none was in force', async () => {
    expect((await probesOf(await recorded('<b>'))).html(['IND'])).toContain('&lt;b&gt;');
    expect((await probesOf(await recorded(''))).html(['IND'])).toBe('');
  });
});
