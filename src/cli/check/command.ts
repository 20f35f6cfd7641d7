/** `trueline check`: one command, one short answer, for people in a hurry and for programs. Exit status 0 healthy, 1 faulty or unexplained, 2 bad input, 3 not enough evidence. */

import { Command, InvalidArgumentError, Option } from 'commander';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { style, wantsColour } from '../../report/style.ts';
import { json, list, maxSize, print, words } from '../common/options.ts';
import { acceptCause, failingVerdicts, readProject, verdicts } from '../common/project.ts';
import { addLogOptions, type LogFlags, logOptions } from '../import.ts';
import { junit, markdown } from './formats.ts';
import { look } from './look.ts';
import { checkText } from './text.ts';

interface CheckFlags extends LogFlags {
  json?: boolean;
  junit?: boolean;
  markdown?: boolean;
  failOn?: (typeof verdicts)[number][];
  ignore: string[];
  because?: string;
  config?: string;
}

export function checkCommand(): Command {
  const command = new Command('check')
    .description('Examine whatever a path holds and answer in at most 25 lines: verdict, cause, proof, what to change.')
    .argument('<path>', 'a recording, a log, a zip, or a folder of them, ended or still running');
  return addLogOptions(command)
    .addOption(json().conflicts(['junit', 'markdown']))
    .addOption(new Option('--junit', 'print the result as JUnit XML').conflicts(['json', 'markdown']))
    .addOption(
      new Option('--markdown', 'print the result as Markdown, for a pull request').conflicts(['json', 'junit']),
    )
    .option('--fail-on <verdicts>', `verdicts that end with status 1, of ${verdicts.join(', ')}`, parseVerdicts)
    .option(
      '--ignore <cause>',
      'a cause that is accepted; with --because it is kept in trueline.yaml; may be repeated',
      list,
      [],
    )
    .option('--because <text>', 'why it is accepted')
    .option('--config <file>', "the project's file, in place of trueline.yaml")
    .addOption(maxSize())
    .addHelpText(
      'after',
      '\nExamples:\n  $ trueline check examples/echo\n  $ trueline check runs/ --junit\n\nExit status: 0 healthy, 1 faulty or unexplained, 2 bad input, 3 not enough evidence; with --fail-on, 1 or 0.\n',
    )
    .action(async (path: string, flags: CheckFlags) => {
      if (flags.because !== undefined && flags.ignore.length === 0)
        throw new BadInput(
          told(
            '--because says why a cause is ignored, and no --ignore names one',
            '--because 说明为何忽略某个原因，而没有 --ignore 指出哪一个',
          ),
        );
      let project = await readProject(path, flags);
      if (flags.because !== undefined) {
        for (const cause of flags.ignore) {
          const file = await acceptCause(project, cause, flags.because);
          process.stderr.write(
            told(`${cause} is kept as accepted in ${file}\n`, `${cause} 已作为可接受的原因记入 ${file}\n`),
          );
          project = await readProject(path, { ...flags, config: flags.config ?? file });
        }
      }
      const result = await look(path, project, {
        ...logOptions(flags),
        ...(flags.failOn ? { failOn: flags.failOn } : {}),
      });
      const failing = flags.failOn ?? project.failOn ?? failingVerdicts;
      if (flags.json) print(JSON.stringify(result, null, 2));
      else if (flags.junit) print(junit(result, ({ verdict }) => failing.includes(verdict)));
      else if (flags.markdown) print(markdown(result));
      else print(checkText(result, style(wantsColour(process.stdout, process.env)), process.stdout.columns));
      process.exitCode = result.status;
    });
}

function parseVerdicts(text: string): (typeof verdicts)[number][] {
  return words(text).map((word) => {
    const verdict = verdicts.find((name) => name === word);
    if (!verdict)
      throw new InvalidArgumentError(
        told(`The verdicts are ${verdicts.join(', ')}.`, `结论有：${verdicts.join(', ')}。`),
      );
    return verdict;
  });
}
