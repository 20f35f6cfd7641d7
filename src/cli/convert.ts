/** `trueline convert`: the same recording in another encoding, or as one zip file. */

import { existsSync } from 'node:fs';
import { Command, Option } from 'commander';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { convert } from '../recording/convert.ts';
import { writeFolder } from '../recording/disk/node.ts';
import { folderStore, openRecording, openStore, packZip } from '../recording/node.ts';
import type { Encoding } from '../recording/writer.ts';
import { maxSize, print } from './common/options.ts';
import { progress } from './common/progress.ts';

export function convertCommand(): Command {
  return new Command('convert')
    .description('Write a recording in another encoding. Values are preserved exactly.')
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
      async (from: string, to: string, options: { to: Encoding | 'zip'; compress?: boolean; maxSize?: number }) => {
        const recording = await openRecording(from, options);
        const bar = progress('converting');
        if (options.to === 'zip') {
          if (existsSync(to))
            throw new BadInput(
              told('is there already; name a new file, or remove it first', '已经存在；请换一个文件名，或先删除它'),
              { file: to },
            );
          await packZip(await openStore(from, options), to, bar.update);
        } else {
          const { to: encoding, compress } = options;
          await writeFolder(to, (folder) =>
            convert(recording, folderStore(folder), { encoding, compress }, bar.update),
          );
        }
        bar.stop();
        print(`Wrote ${to}`);
      },
    );
}
