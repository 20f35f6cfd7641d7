/** The command line: one file per command, one sentence and exit status 2 for bad input, no stack traces. */
import { Command, CommanderError, Option } from 'commander';
import { languages, localeLanguage, speak, spokenLanguage, told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { version } from '../recording/version.ts';
import { printable } from '../report/safe-text.ts';
import { style, useColumns, wantsColour } from '../report/style.ts';
import { translate } from './common/help.ts';
import { isAtWork } from './common/interrupt.ts';
import { exitStatus } from './common/options.ts';

/** In the order of `trueline --help`. Loaded only when asked for, because a command should not wait for what the others need. */
const commands: Record<string, () => Promise<Command>> = {
  demo: async () => (await import('./demo.ts')).demoCommand(),
  train: async () => (await import('./train.ts')).trainCommand(),
  play: async () => (await import('./play.ts')).playCommand(),
  adapt: async () => (await import('./lineup/adapt.ts')).adaptCommand(),
  crossplay: async () => (await import('./lineup/crossplay.ts')).crossplayCommand(),
  symmetry: async () => (await import('./symmetry.ts')).symmetryCommand(),
  sweep: async () => (await import('./sweep/sweep.ts')).sweepCommand(),
  worker: async () => (await import('./sweep/worker.ts')).workerCommand(),
  compare: async () => (await import('./compare.ts')).compareCommand(),
  export: async () => (await import('./export.ts')).exportCommand(),
  check: async () => (await import('./check/command.ts')).checkCommand(),
  diagnose: async () => (await import('./diagnose.ts')).diagnoseCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  zoo: async () => (await import('./zoo/zoo.ts')).zooCommand(),
  mcp: async () => (await import('./mcp/command.ts')).mcpCommand(),
  studio: async () => (await import('./studio.ts')).studioCommand(),
  import: async () => (await import('./import.ts')).importCommand(),
  inspect: async () => (await import('./inspect.ts')).inspectCommand(),
  validate: async () => (await import('./validate.ts')).validateCommand(),
  convert: async () => (await import('./convert.ts')).convertCommand(),
  engine: async () => (await import('./engine.ts')).engineCommand(),
};

/** The program with the one command that is called, or with all where none is: for help, and to say what was meant. */
export async function program(called: string | undefined): Promise<Command> {
  const made = new Command('trueline')
    .description('Trains agents together, and names the cause when training does not learn.')
    .version(version)
    .showHelpAfterError(told('(trueline --help lists the commands)', '（trueline --help 列出各命令）'))
    .addHelpText('after', '\nExample:\n  $ trueline inspect run/\n');
  const wanted = called !== undefined && Object.hasOwn(commands, called) ? [called] : Object.keys(commands);
  if (called !== '--version' && called !== '-V') for (const name of wanted) made.addCommand(await commands[name]());
  const quietly = (command: Command) => {
    command.exitOverride().configureHelp({ minWidthToWrap: 20 });
    command.addOption(
      new Option(
        '--language <language>',
        told('the language of sentences (default: that of the locale)', '句子所用的语言（默认：随系统区域设置）'),
      ).choices(languages),
    );
    translate(command);
    command.commands.forEach(quietly);
  };
  quietly(made);
  return made;
}

export async function main(args: readonly string[]): Promise<void> {
  const paint = style(wantsColour(process.stderr, process.env));
  // A reader that has seen enough (head, less) closes the pipe; that is no error, and what is being trained goes on without it.
  const onError = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    if (!isAtWork()) process.exit(exitStatus.good);
  };
  process.stdout.on('error', onError);
  process.stderr.on('error', onError);
  if (args[0] === '--version' && args[1] === '--verbose') {
    process.stdout.write((await import('./about.ts')).about());
    return;
  }
  // Sentences are made while commands are, so it is known before anything else.
  const asked = languages.find((one) =>
    args.some((arg, i) => arg === `--language=${one}` || (arg === one && args[i - 1] === '--language')),
  );
  speak(asked ?? localeLanguage(process.env));
  if (spokenLanguage() === 'zh') (await import('./common/schemas.ts')).speakChinese();
  useColumns(process.stdout.columns ?? process.stderr.columns);
  try {
    await (await program(args[0])).parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? exitStatus.good : exitStatus.badInput;
      return;
    }
    const expected = error instanceof BadInput || isFileError(error);
    process.stderr.write(`${paint.red('trueline:')} ${printable((error as Error).message)}\n`);
    if (!expected) {
      const hint = told(
        'This is a fault of the program itself; TRUELINE_DEBUG=1 shows where it happened.',
        '这是程序自身的故障；TRUELINE_DEBUG=1 会显示出处。',
      );
      process.stderr.write(`${process.env.TRUELINE_DEBUG ? (error as Error).stack : hint}\n`);
    }
    process.exitCode = expected ? exitStatus.badInput : exitStatus.crashed;
  }
}

/** No room, no permission, no such folder: the operating system's sentence names the path. */
function isFileError(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  if (!(error instanceof Error) || typeof code !== 'string') return false;
  // No path holds a null byte, and Node says so before it asks the system.
  if (code === 'ERR_INVALID_ARG_VALUE') return /null bytes/.test(error.message);
  return /^E[A-Z]+$/.test(code) && 'syscall' in error;
}
