/** MLflow's folder of a run: `metrics/<name>` holds lines of time in ms, value and step, `params/<name>` one setting. Names with slashes are folders. */
import { told } from '../../../language/language.ts';
import { BadInput } from '../../bad-input.ts';
import { lines } from '../../files/text-lines.ts';
import type { Budget, ByteSource } from '../../source.ts';
import { type Log, toNumber } from '../log.ts';

export async function readMlflowMetric(source: ByteSource, name: string, log: Log, budget: Budget): Promise<void> {
  let [read, others] = [0, 0];
  for await (const line of lines(source, budget)) {
    const [time, value, step] = line.trim().split(/\s+/).map(toNumber);
    if (value === undefined) {
      if (line.trim() !== '') others++;
      continue;
    }
    read++;
    log.add(name, value, step ?? Number.NaN, time === undefined ? Number.NaN : time / 1000);
  }
  if (read === 0)
    throw new BadInput(told('holds no line of a time, a value and a step', '没有由时间、值和步数组成的行'), {
      file: source.name,
    });
  if (others > 0)
    log.notices.push(
      told(
        `${source.name}: ${others} lines are not a time, a value and a step, and are left out`,
        `${source.name}：有 ${others} 行不是时间、值和步数，略去`,
      ),
    );
}

export async function readMlflowParam(source: ByteSource, name: string, log: Log): Promise<void> {
  log.declared.set(name, new TextDecoder().decode(await source.read(0, Math.min(source.size, 4096))).trim());
}
