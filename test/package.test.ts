import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, run, temporaryFolder } from './support/run.ts';

describe('the package', () => {
  it('packed and installed into an empty folder has the command and its exports, with types', () => {
    const folder = temporaryFolder();
    const packed = run('npm', ['pack', '--pack-destination', folder, '--loglevel=error']);
    expect(packed.status, packed.stderr).toBe(0);
    const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    const app = join(folder, 'app');
    mkdirSync(app);
    writeFileSync(join(app, 'package.json'), '{"name":"app","private":true,"type":"module"}');
    const installed = run(
      'npm',
      ['install', join(folder, tarball), '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'],
      { cwd: app },
    );
    expect(installed.status, installed.stderr).toBe(0);

    writeFileSync(
      join(app, 'use.mjs'),
      `import { memoryStore, Recording, RecordingWriter } from 'trueline/recording';
import { createRecording, openRecording } from 'trueline/recording/node';
const writer = await createRecording('run', { format: 'trueline/1' });
await writer.append('scalars', { name: ['loss'], value: Float64Array.of(0.5) });
await writer.close();
console.log((await (await openRecording('run')).read('scalars')).rows, typeof memoryStore, typeof Recording, typeof RecordingWriter);`,
    );
    expect(run(process.execPath, ['use.mjs'], { cwd: app })).toMatchObject({
      status: 0,
      stdout: '1 function function function\n',
    });
    const command = join(app, 'node_modules', '.bin', 'trueline');
    const inspected = run(command, ['inspect', 'run'], { cwd: app });
    expect(inspected.stdout).toMatch(/scalars {2}1 rows/);
    expect(run(command, ['demo', '--help'], { cwd: app }).status).toBe(0);

    writeFileSync(
      join(app, 'use.ts'),
      `import { type Chunk, Recording } from 'trueline/recording';\nconst wrong: number = Recording;\nexport type { Chunk };\nexport { wrong };\n`,
    );
    const types = run(
      process.execPath,
      [
        join(root, 'node_modules/typescript/bin/tsc'),
        '--noEmit',
        '--module',
        'nodenext',
        '--target',
        'es2023',
        '--skipLibCheck',
        'use.ts',
      ],
      { cwd: app },
    );
    // The types are found, and they are ours: only the deliberate mistake is told.
    expect(types.stdout).toMatch(
      /^use\.ts\(2,7\): error TS2322: Type 'typeof Recording' is not assignable to type 'number'\.\n$/,
    );
  });
});
