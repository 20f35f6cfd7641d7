/** `trueline demo`, which `npm start` runs: the main job on data that comes with the program. */
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { inspect } from '../recording/inspect.ts';
import { openRecording } from '../recording/node.ts';
import { style, wantsColour } from '../report/style.ts';
import { inspectionText } from './inspect.ts';
import { print } from './options.ts';

export function demoCommand(): Command {
  return new Command('demo')
    .description('Show what the program does on an example that comes with it.')
    .addHelpText('after', '\nExample:\n  $ trueline demo\n')
    .action(async () => {
      const example = fileURLToPath(new URL('../../examples/echo', import.meta.url));
      const inspection = await inspect(await openRecording(example));
      print(inspectionText(inspection, style(wantsColour(process.stdout, process.env))));
    });
}
