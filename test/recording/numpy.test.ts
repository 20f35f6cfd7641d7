import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRecording, folderStore, openRecording } from '../../src/recording/node.ts';
import { plain } from '../support/arbitraries.ts';
import { findPython, run, temporaryFolder } from '../support/run.ts';

const python = findPython('numpy');
const folder = temporaryFolder();

function numpy(script: string): string {
  const result = run(python as string, ['-c', `import numpy as np, json, os\n${script}`]);
  expect(result.stderr).toBe('');
  return result.stdout;
}

describe.skipIf(!python)('numpy', () => {
  it.each([false, true])('opens what we write (deflated: %s)', async (compress) => {
    const path = join(folder, `ours-${compress}`);
    const writer = await createRecording(path, { format: 'trueline/1' }, { compress });
    await writer.append('samples', {
      iteration: Uint8Array.of(0, 0, 1),
      episode: Float64Array.of(0, 2 ** 40, 3),
      t: Int16Array.of(0, 1, 2),
      agent: Int8Array.of(0, 0, 0),
      old_logp: Float32Array.of(-0.5, Number.NaN, Number.NEGATIVE_INFINITY),
      reward: Float64Array.of(0.1, -0, 1e300),
      terminated: Uint8Array.of(0, 1, 0),
      subset: { values: Int32Array.of(5, 7, 9), offsets: Int32Array.of(0, 2, 2, 3) },
      legal: { values: Uint8Array.of(1, 0, 1), offsets: Int32Array.of(0, 2, 2, 3) },
    });
    await writer.append('counters', {
      iteration: Int32Array.of(0),
      agent: Int32Array.of(0),
      name: ['größe 😀'],
      value: Float32Array.of(3),
    });
    await writer.close();
    const shown = JSON.parse(
      numpy(`s = np.load(${JSON.stringify(join(path, 'samples/000000.npz'))})
c = np.load(${JSON.stringify(join(path, 'counters/000000.npz'))})
print(json.dumps({k: [str(s[k].dtype), [repr(v.item()) for v in s[k]]] for k in s.files} | {'name': [str(c['name'].dtype), c['name'].tolist()]}))`),
    );
    expect(shown.episode).toEqual(['float64', ['0.0', '1099511627776.0', '3.0']]);
    expect(shown.old_logp).toEqual(['float32', ['-0.5', 'nan', '-inf']]);
    expect(shown.reward).toEqual(['float64', ['0.1', '-0.0', '1e+300']]);
    expect(shown.terminated).toEqual(['bool', ['False', 'True', 'False']]);
    expect(shown['subset.values']).toEqual(['int32', ['5', '7', '9']]);
    expect(shown['subset.offsets']).toEqual(['int64', ['0', '2', '2', '3']]);
    expect(shown['legal.values'][0]).toBe('bool');
    expect(shown.name).toEqual(['<U7', ['größe 😀']]);
  });

  it('writes what we read: every dtype, both orders, 2-D columns, stored and deflated', async () => {
    const path = join(folder, 'theirs');
    numpy(`os.makedirs(${JSON.stringify(path)} + '/samples')
open(${JSON.stringify(path)} + '/manifest.json', 'w').write(json.dumps({'format': 'trueline/1'}))
keys = lambda kind: dict(iteration=np.zeros(4, kind), episode=np.arange(4).astype(kind), t=np.zeros(4, kind), agent=np.zeros(4, kind))
kinds = ['i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8']
for n, kind in enumerate(kinds):
    save = np.savez if n % 2 else np.savez_compressed
    logits = np.arange(12, dtype=['f2', 'f4', 'f8'][n % 3]).reshape(4, 3) / 4
    save(f'${path}/samples/{n:06}.npz', **keys(kind), old_logp=np.full(4, -0.25, ['f2', 'f4', 'f8'][n % 3]),
         logits=logits if n < 4 else np.asfortranarray(logits), truncated=np.array([True, False, True, False]),
         reward=np.arange(4)[:, None].astype(kind), note=np.array(['a', 'bcd', '', 'é']),
         **{'subset.values': np.arange(5).astype(kind), 'subset.offsets': np.array([0, 2, 2, 4, 5])})`);
    const recording = await openRecording(path);
    const read = await recording.read('samples');
    expect(read.rows).toBe(32);
    const rows = plain(read);
    const repeat = <T>(items: T[]) => Array.from({ length: 8 }, () => items).flat();
    expect(rows.episode).toEqual(repeat([0, 1, 2, 3]));
    expect(rows.old_logp).toEqual(repeat([-0.25, -0.25, -0.25, -0.25]));
    expect(rows.reward).toEqual(repeat([0, 1, 2, 3]));
    expect(rows.truncated).toEqual(repeat([1, 0, 1, 0]));
    expect(rows.logits).toEqual(
      repeat([
        [0, 0.25, 0.5],
        [0.75, 1, 1.25],
        [1.5, 1.75, 2],
        [2.25, 2.5, 2.75],
      ]),
    );
    expect(rows.subset).toEqual(repeat([[0, 1], [], [2, 3], [4]]));
    expect(rows.note).toEqual(repeat(['a', 'bcd', '', 'é']));
  });

  it('is refused with a sentence where it wrote big-endian arrays', async () => {
    const path = join(folder, 'big');
    await (await createRecording(path, { format: 'trueline/1' })).close();
    numpy(`os.makedirs(${JSON.stringify(path)} + '/scalars')
np.savez(${JSON.stringify(path)} + '/scalars/000000.npz', name=np.array(['a']), value=np.array([1.0], '>f8'))`);
    const recording = await openRecording(path);
    await expect(recording.read('scalars')).rejects.toThrow(/scalars\/000000\.npz\/value\.npy: is big-endian \(>f8\)/);
    expect(await folderStore(path).list()).toEqual(['manifest.json', 'scalars/000000.npz']);
  });
});
