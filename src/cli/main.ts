/** The command line: one file per command, one sentence and exit status 2 for bad input, no stack traces. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { BadInput } from '../recording/bad-input.ts';
import { style, wantsColour } from '../report/style.ts';
import { compareCommand } from './compare.ts';
import { convertCommand } from './convert.ts';
import { demoCommand } from './demo.ts';
import { diagnoseCommand } from './diagnose.ts';
import { explainCommand } from './explain.ts';
import { exportCommand } from './export.ts';
import { importCommand } from './import.ts';
import { inspectCommand } from './inspect.ts';
import { exitStatus } from './options.ts';
import { playCommand } from './play.ts';
import { studioCommand } from './studio.ts';
import { sweepCommand } from './sweep.ts';
import { symmetryCommand } from './symmetry.ts';
import { trainCommand } from './train.ts';
import { validateCommand } from './validate.ts';
import { workerCommand } from './worker.ts';
import { zooCommand } from './zoo.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

function program(): Command {
  const made = new Command('trueline')
    .description('Trains agents together, and names the cause when training does not learn.')
    .version(version)
    .showHelpAfterError('(trueline --help lists the commands)')
    .addCommand(demoCommand())
    .addCommand(trainCommand())
    .addCommand(playCommand())
    .addCommand(symmetryCommand())
    .addCommand(sweepCommand())
    .addCommand(workerCommand())
    .addCommand(compareCommand())
    .addCommand(exportCommand())
    .addCommand(diagnoseCommand())
    .addCommand(explainCommand())
    .addCommand(zooCommand())
    .addCommand(studioCommand())
    .addCommand(importCommand())
    .addCommand(inspectCommand())
    .addCommand(validateCommand())
    .addCommand(convertCommand())
    .addHelpText('after', '\nExample:\n  $ trueline inspect run/\n');
  const quietly = (command: Command) => {
    command.exitOverride();
    command.commands.forEach(quietly);
  };
  quietly(made);
  return made;
}

export async function main(args: readonly string[]): Promise<void> {
  const paint = style(wantsColour(process.stderr, process.env));
  // A reader that has seen enough (head, less) closes the pipe; that is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitStatus.good);
    throw error;
  });
  try {
    await program().parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? exitStatus.good : exitStatus.badInput;
      return;
    }
    const expected = error instanceof BadInput || isFileError(error);
    process.stderr.write(`${paint.red('trueline:')} ${(error as Error).message}\n`);
    if (!expected) {
      const hint = 'This is a fault of the program itself; TRUELINE_DEBUG=1 shows where it happened.';
      process.stderr.write(`${process.env.TRUELINE_DEBUG ? (error as Error).stack : hint}\n`);
    }
    process.exitCode = expected ? exitStatus.badInput : exitStatus.crashed;
  }
}

/** No room, no permission, no such folder: the operating system's sentence names the path. */
function isFileError(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return error instanceof Error && typeof code === 'string' && /^E[A-Z]+$/.test(code) && 'syscall' in error;
}
