/** `trueline diagnose`: names the cause, proves it, says what to change. Exit status 0 healthy, 1 faulty, 3 not enough evidence. */
import { Command } from 'commander';
import { diagnose } from '../doctor/diagnose.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import { openRecording } from '../recording/node.ts';
import { diagnosisText } from '../report/diagnosis.ts';
import { style, wantsColour } from '../report/style.ts';
import { exitStatus, json, maxSize, print } from './options.ts';
import { progress } from './progress.ts';

interface Flags {
  json?: boolean;
  only: string[];
  agent?: string;
  ignore: string[];
  maxSize: number;
}

const list = (item: string, items: string[]) => [...items, item];

export function diagnoseCommand(): Command {
  return new Command('diagnose')
    .description('Say what is wrong with a run, prove it with its own numbers, and say what to change.')
    .argument('<recording>', 'a folder that holds manifest.json, or the zip of one')
    .addOption(json())
    .option('--only <check>', 'run only this check; may be repeated', list, [])
    .option('--agent <name>', "look only at this agent's rows")
    .option('--ignore <cause>', 'a cause that is accepted; it is shown as ignored; may be repeated', list, [])
    .addOption(maxSize())
    .addHelpText('after', '\nExample:\n  $ trueline diagnose examples/echo\n')
    .action(async (path: string, flags: Flags) => {
      const recording = await openRecording(path, flags);
      const bar = progress('diagnosing');
      const diagnosis = await diagnose(recording, {
        ...(flags.only.length > 0 ? { only: flags.only } : {}),
        ...(flags.agent === undefined ? {} : { agent: flags.agent }),
        ignore: flags.ignore,
      });
      bar.stop();
      const paint = style(wantsColour(process.stdout, process.env));
      print(flags.json ? JSON.stringify(diagnosis, null, 2) : diagnosisText(diagnosis, paint));
      process.exitCode = exitStatusOf(diagnosis);
    });
}

export function exitStatusOf(diagnosis: Diagnosis): number {
  const { good, faulty, notEnough } = exitStatus;
  return { healthy: good, faulty, 'not-enough-evidence': notEnough }[diagnosis.verdict];
}
