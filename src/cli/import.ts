/** `trueline import`: a log as a recording, with the names it was recognised by. Only the table `scalars` comes of it. */

import { Command, InvalidArgumentError, Option } from 'commander';
import { told } from '../language/language.ts';
import { requireNoFolder, writeFolder } from '../recording/disk/node.ts';
import { openLogStore } from '../recording/importers/node.ts';
import { importLog, type LogOptions, writeLog } from '../recording/importers/open.ts';
import { folderStore } from '../recording/node.ts';
import { logText } from '../report/logs/log.ts';
import { style, wantsColour } from '../report/style.ts';
import { json, maxSize, print } from './common/options.ts';

export interface LogFlags {
  map: string[];
  run?: string;
  setting: Record<string, number>;
  maxSize?: number;
}

/** What `import` and `diagnose` understand of logs. */
export function addLogOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--map <metric=column>',
        'read this column of a log as this metric; metric=-column negates; may be repeated',
      )
        .argParser((item: string, items: string[]) => [...items, item])
        .default([], 'none'),
    )
    .option('--run <name>', 'which run to read, if a log holds several')
    .addOption(
      new Option('--setting <name=number>', 'a setting that the log does not state, such as epochs=1; may be repeated')
        .argParser((item: string, settings: Record<string, number>) => {
          const [name, value] = item.split('=');
          if (!/^\w+$/.test(name) || value === undefined || value.trim() === '' || Number.isNaN(Number(value)))
            throw new InvalidArgumentError(
              told('A name and a number, such as epochs=1, are expected.', '应给出名称和数字，例如 epochs=1。'),
            );
          return { ...settings, [name]: Number(value) };
        })
        .default({}, 'none'),
    );
}

export function logOptions(flags: LogFlags): LogOptions {
  const { map, run, setting, maxSize: size } = flags;
  return {
    map,
    settings: setting,
    ...(size === undefined ? {} : { maxSize: size }),
    ...(run === undefined ? {} : { run }),
  };
}

export function importCommand(): Command {
  const command = new Command('import')
    .description('Read a log (TensorBoard, CSV, progress.json, JSON lines, a W&B export) into a recording.')
    .argument('<source>', 'an event file, a CSV or JSON lines file, or the folder of one run')
    .argument('<out>', 'a new folder for the recording');
  return addLogOptions(command)
    .addOption(json())
    .addOption(maxSize())
    .addHelpText('after', '\nExample:\n  $ trueline import examples/stuck-log imported\n')
    .action(async (source: string, out: string, flags: LogFlags & { json?: boolean }) => {
      await requireNoFolder(out);
      const imported = await importLog(await openLogStore(source, { maxSize: flags.maxSize }), logOptions(flags));
      await writeFolder(out, (folder) => writeLog(imported, folderStore(folder), { compress: true }));
      const { kind, files, rows, columns, notices } = imported;
      if (flags.json) print(JSON.stringify({ out, kind, files, rows, columns, notices }, null, 2));
      else print(`${logText(imported, style(wantsColour(process.stdout, process.env)))}\nWrote ${out}`);
    });
}
