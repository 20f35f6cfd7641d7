/** What a queue hands out, as data of a stranger: it is run only if it has this form and its id is that of its data. No field of it is ever part of a path. */

import { z } from 'zod';
import { runSettings } from '../../faults/bench/plan.ts';
import { heads } from '../../faults/bench/setups.ts';
import { findFault } from '../../faults/index.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { version } from '../../recording/version.ts';
import { readSettings } from '../../training/settings.ts';
import { type Job, jobId, makeJob } from '../job.ts';

const name = z.string().max(200);
const seed = z.int().min(0);

const entrySchema = z.strictObject({
  job: z.strictObject({
    format: z.literal('trueline/job/1'),
    settings: z.record(z.string(), z.unknown()),
    seed,
    version: name,
    fault: z.strictObject({ id: name, seed }).optional(),
    evaluate: z
      .array(z.strictObject({ episodes: z.int().min(1).max(1e9), deal: z.boolean() }))
      .max(100)
      .optional(),
    bench: z.strictObject({ id: name, fault: name, game: name, head: z.enum(heads), seed }).optional(),
  }),
  shared: z.boolean().optional(),
});

/** The entry as it may be used, and the id, which alone names a folder: 16 hexadecimal digits made here. */
export function readEntry(data: unknown, queuedId: string): { id: string; job: Job; shared: boolean } {
  const parsed = entrySchema.safeParse(data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new BadInput(
      told(
        `${issue.path.join('.') || 'the entry'}: ${issue.message}`,
        `${issue.path.join('.') || '条目'}：${issue.message}`,
      ),
    );
  }
  const { job: given, shared = false } = parsed.data;
  if (given.version !== version)
    throw new BadInput(
      told(
        `it was made by version ${given.version} and this is ${version}; make the list anew`,
        `它由版本 ${given.version} 生成，而这里是 ${version}；请重新生成列表`,
      ),
    );
  if (given.fault) findFault(given.fault.id);
  const { fault, evaluate, bench } = given;
  const extras = { ...(fault ? { fault } : {}), ...(evaluate ? { evaluate } : {}), ...(bench ? { bench } : {}) };
  const job = makeJob(readSettings({ ...given.settings, seed: given.seed }), given.seed, extras);
  const id = jobId(job);
  if (bench && jobId(makeJob(runSettings(bench), given.seed, { bench })) !== id)
    throw new BadInput(told("it is no run of the zoo's bench", '它不是故障库基准的训练'));
  if (id !== queuedId)
    throw new BadInput(
      told('its id is not that of its settings, seed and version', '它的 id 与其设置、种子和版本不符'),
    );
  return { id, job, shared };
}
