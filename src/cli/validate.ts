/** `trueline validate`: is the recording well-formed from end to end? Exit status 0 or 2. */
import { Command } from 'commander';
import { validate } from '../recording/check/validate.ts';
import { openRecording } from '../recording/node.ts';
import { printable } from '../report/safe-text.ts';
import { style, wantsColour } from '../report/style.ts';
import { number } from '../report/table.ts';
import { exitStatus, json, maxSize, print } from './common/options.ts';

export function validateCommand(): Command {
  return new Command('validate')
    .description('Read every file of a recording and report any problems.')
    .argument('<recording>', 'a folder with a manifest.json, or a zip of one')
    .addOption(json())
    .addOption(maxSize())
    .addHelpText('after', '\nExample:\n  $ trueline validate examples/echo\n')
    .action(async (path: string, options: { json?: boolean; maxSize?: number }) => {
      const result = await validate(await openRecording(path, options));
      const paint = style(wantsColour(process.stdout, process.env));
      if (options.json) print(JSON.stringify(result, null, 2));
      else {
        for (const problem of result.problems) print(`${paint.red('bad')}   ${printable(problem)}`);
        if (result.unknown.length > 0)
          print(
            `${paint.yellow('note')}  not part of the format, kept and not judged: ${printable(result.unknown.join(', '))}`,
          );
        if (result.empty)
          print(
            `${paint.yellow('empty')} ${result.name}: the run was ended before it recorded anything, or has just begun`,
          );
        else if (result.valid) {
          const rows = Object.entries(result.rows).map(([table, count]) => `${table} ${number(count)}`);
          print(`${paint.green('valid')} ${result.name}: ${rows.join(', ')} rows`);
        }
      }
      if (!result.valid) process.exitCode = exitStatus.badInput;
    });
}
