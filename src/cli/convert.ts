/** `trueline convert`: the same recording in another encoding, or as one zip file. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { BadInput } from '../recording/bad-input.ts';
import { convert } from '../recording/convert.ts';
import { folderStore, openRecording, openStore, packZip } from '../recording/node.ts';
import type { Encoding } from '../recording/writer.ts';
import { maxSize, print } from './options.ts';
import { progress } from './progress.ts';

export function convertCommand(): Command {
  return new Command('convert')
    .description('Write a recording in another encoding. Values are kept exactly.')
    .argument('<in>', 'a recording: folder or zip')
    .argument('<out>', 'a new folder, or the zip file to write')
    .addOption(
      new Option('--to <encoding>', 'what to write')
        .choices(['parquet', 'npz', 'jsonl', 'jsonl.gz', 'zip'])
        .makeOptionMandatory(),
    )
    .option('--compress', 'deflate npz; zstd instead of snappy for Parquet (Node 22.15 or later)')
    .addOption(maxSize())
    .addHelpText('after', '\nExample:\n  $ trueline convert examples/echo echo-parquet --to parquet\n')
    .action(
      async (from: string, to: string, options: { to: Encoding | 'zip'; compress?: boolean; maxSize: number }) => {
        const recording = await openRecording(from, options);
        const bar = progress('converting');
        if (options.to === 'zip') {
          if (existsSync(to)) throw new BadInput('is there already; name a new file, or remove it first', { file: to });
          await packZip(await openStore(from, options), to, bar.update);
        } else {
          if (existsSync(to) && (!statSync(to).isDirectory() || readdirSync(to).length > 0)) {
            throw new BadInput('is there already and not an empty folder; name a new one, or remove it first', {
              file: to,
            });
          }
          // Written beside its place and renamed, so that a conversion that is cut off never looks whole.
          const temporary = join(dirname(resolve(to)), `.${basename(to)}.tmp`);
          await rm(temporary, { recursive: true, force: true });
          await convert(
            recording,
            folderStore(temporary),
            { encoding: options.to, compress: options.compress },
            bar.update,
          );
          if (existsSync(to)) await rm(to, { recursive: true });
          await rename(temporary, to);
        }
        bar.stop();
        print(`Wrote ${to}`);
      },
    );
}
