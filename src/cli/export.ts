/** `trueline export`: the policies of a run in a form that other programs run. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { told } from '../language/language.ts';
import { actorToOnnx } from '../net/onnx.ts';
import { BadInput } from '../recording/bad-input.ts';
import { writeWhole } from '../recording/node.ts';
import { snapshotName } from '../recording/writer.ts';
import { loadTrainer } from '../training/node.ts';
import { print } from './common/options.ts';

export function exportCommand(): Command {
  return new Command('export')
    .description('Write the policies of a run as ONNX: input obs, output logits.')
    .argument('<run>', 'a folder that trueline train wrote')
    .option('--onnx', 'write ONNX models')
    .option('--out <folder>', 'where to write them (default: policies/ in the run)')
    .addHelpText('after', '\nExample:\n  $ trueline export runs/echo-3 --onnx\n')
    .action(async (run: string, options: { onnx?: boolean; out?: string }) => {
      if (!options.onnx)
        throw new BadInput(told('nothing to write; --onnx is what there is', '没有要写的内容；目前只有 --onnx'));
      await readdir(run).catch(() => {
        throw new BadInput(told('there is no such folder', '没有这个文件夹'), { file: run });
      });
      const { trainer, dispose } = await loadTrainer(run, (sentence) => process.stderr.write(`note ${sentence}\n`));
      for (const { name, policy } of trainer.learners) {
        const path = join(options.out ?? join(run, 'policies'), snapshotName(name, trainer.iteration));
        await writeWhole(path, [actorToOnnx(policy)]);
        print(`Wrote ${path}`);
      }
      dispose();
    });
}
