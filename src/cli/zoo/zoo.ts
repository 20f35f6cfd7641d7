/** `trueline zoo`: the faults that a run can be given on purpose. */
import { Command } from 'commander';
import { asymmetryFaults, faults, planningFaults } from '../../faults/index.ts';
import { style, wantsColour } from '../../report/style.ts';
import { table } from '../../report/table.ts';
import { json, print } from '../common/options.ts';
import { benchCommand } from './zoo-bench.ts';

export function zooCommand(): Command {
  const list = new Command('list')
    .description(
      'List every fault with the cause that a diagnosis must name; faults that make equal agents unequal come last.',
    )
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ trueline zoo list\n')
    .action((flags: { json?: boolean }) => {
      const rows = [...faults, ...planningFaults, ...asymmetryFaults].map(({ id, cause, stage, sentence }) => ({
        id,
        cause,
        stage,
        sentence,
      }));
      const paint = style(wantsColour(process.stdout, process.env));
      if (flags.json) print(JSON.stringify(rows, null, 2));
      else
        print(
          table(
            ['fault', 'cause', 'stage', 'what goes wrong'].map(paint.dim),
            rows.map((row) => [row.id, row.cause, row.stage, row.sentence]),
          ),
        );
    });
  return new Command('zoo')
    .description('Faults that can be put into a run on purpose, to see whether they are found.')
    .addCommand(list)
    .addCommand(benchCommand())
    .addHelpText('after', '\nExample:\n  $ trueline zoo list\n');
}
