/** `trueline engine`: what computes here and why; `trueline engine build` compiles the native engine. Without it everything works the same, to the bit. */
import { Command } from 'commander';
import { told } from '../language/language.ts';
import { createEngine } from '../net/engine.ts';
import { buildNative, findNative } from '../net/native/node.ts';
import { packageRoot } from '../net/node.ts';
import { BadInput } from '../recording/bad-input.ts';
import { json, print } from './common/options.ts';

interface EngineState {
  /** What `engine: auto` takes. */
  engine: string;
  kernel: string;
  threads: number;
  /** The instructions that the native engine uses, the file that it is, or why there is none. */
  variant?: string;
  file?: string;
  reason?: string;
}

async function state(): Promise<EngineState> {
  const found = findNative(packageRoot);
  const made = await createEngine();
  made.dispose();
  return {
    engine: made.engine,
    kernel: made.kernel,
    threads: made.threads,
    ...('addon' in found ? { variant: found.addon.variants[0], file: found.file } : { reason: found.reason }),
  };
}

function show(found: EngineState, asJson: boolean | undefined): void {
  if (asJson) {
    print(JSON.stringify(found, null, 2));
    return;
  }
  const { engine, kernel, threads, variant, file, reason } = found;
  const on = told(
    `${kernel} kernel on ${threads} thread${threads === 1 ? '' : 's'}`,
    `${kernel} 内核，${threads} 个线程`,
  );
  if (engine === 'native') {
    print(told(`native (${variant}): ${on}`, `native（${variant}）：${on}`));
    print(file!);
  } else {
    print(told(`${engine}: ${on}`, `${engine}：${on}`));
    print(told(`no native engine: ${reason}`, `没有原生引擎：${reason}`));
  }
}

export function engineCommand(): Command {
  const command = new Command('engine')
    .description('Say what computes here and why: native code of this CPU, or WebAssembly.')
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ trueline engine\n  $ trueline engine build\n')
    .action(async (options: { json?: boolean }) => show(await state(), options.json));
  command
    .command('build')
    .description('Compile the native engine with the C compiler that is here.')
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ trueline engine build\n')
    .action(async (_: unknown, self: Command) => {
      process.stderr.write(`${told('Compiling the native engine ...', '正在编译原生引擎……')}\n`);
      try {
        buildNative(packageRoot);
      } catch (error) {
        throw new BadInput((error as Error).message);
      }
      show(await state(), self.optsWithGlobals<{ json?: boolean }>().json);
    });
  return command;
}
