/** `trueline explain`: what a cause means, how it is proved and what to change; without an id, the list of causes. */

import { Command } from 'commander';
import { causeById, causes } from '../doctor/causes.ts';
import { faults } from '../faults/index.ts';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { causePage } from '../report/causes.ts';
import { fold } from '../report/charts/plot.ts';
import { style, terminalColumns, wantsColour } from '../report/style.ts';
import { table } from '../report/table.ts';
import { json, print } from './common/options.ts';

export function explainCommand(): Command {
  return new Command('explain')
    .description('Explain a cause: meaning, symptoms, proof, remedy, and the fault that reproduces it.')
    .argument('[cause]', 'an id, such as advantage-time-shifted; without one, all causes are listed')
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ trueline explain advantage-time-shifted\n')
    .action((id: string | undefined, flags: { json?: boolean }) => {
      const paint = style(wantsColour(process.stdout, process.env));
      if (id === undefined) {
        if (flags.json) return print(JSON.stringify(causes, null, 2));
        return print(
          table(
            [told('cause', '原因'), '', told('meaning', '含义')].map(paint.dim),
            causes.map((cause) => [cause.id, cause.group, told(cause.meaning, cause.chinese.meaning)]),
          ),
        );
      }
      const cause = causeById(id);
      if (!cause)
        throw new BadInput(
          told(
            `there is no cause ${JSON.stringify(id)}; trueline explain lists them all`,
            `没有原因 ${JSON.stringify(id)}；trueline explain 列出全部`,
          ),
        );
      print(
        flags.json
          ? JSON.stringify(cause, null, 2)
          : foldPage(
              causePage(
                cause,
                faults.filter((fault) => fault.cause === id),
              ),
            ),
      );
    });
}

/** Breaks paragraphs between words where the terminal would break them anywhere; code stays as it is. */
function foldPage(page: string): string {
  let code = false;
  return page
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('```')) code = !code;
      return code || line.startsWith('```') ? [line] : fold(line, terminalColumns());
    })
    .join('\n');
}
