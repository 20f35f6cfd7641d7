/** What `trueline check` answers, as data. The schema is the contract: it is written to docs/check.schema.json, and a key never changes its meaning within one version. */
import { z } from 'zod';
import { verdicts } from '../common/project.ts';

const decisive = z
  .strictObject({
    text: z.string().describe('The number that decides, in words.'),
    before: z.number().optional().describe('Residual as the program computed it.'),
    after: z.number().optional().describe('Residual once the fault is undone.'),
    rows: z.int().optional().describe('Rows that show it.'),
    iteration: z.int().optional().describe('Where it is first seen.'),
  })
  .describe('The one number that decides.');

export const checkedRunSchema = z.strictObject({
  name: z.string().describe('Where the run lies: its path, with #NAME for one of several in a file.'),
  kind: z.enum(['recording', 'log']).describe('A log proves no cause and can never be healthy.'),
  state: z.enum(['running', 'ended']).describe('A run that is still being written is judged so far.'),
  verdict: z.enum(verdicts),
  cause: z
    .string()
    .nullable()
    .describe('Id of the first cause; of a log, the one that fits best. Null where none is named.'),
  also: z.array(z.string()).describe('Ids of further causes.'),
  confidence: z.number().nullable().describe('A score from 0 to 1, no probability.'),
  sentence: z.string().describe('What was found, in one sentence.'),
  decisive: decisive.nullable(),
  remedy: z.string().nullable().describe('What to change.'),
  code: z.string().nullable().describe('The change as a line of PyTorch, where there is one.'),
  where: z
    .array(z.string())
    .describe('FILE:LINE of the recording calls nearest to the place to change, where the recorder knows them.'),
  agents: z.array(z.string()),
  ignored: z.array(z.strictObject({ cause: z.string(), reason: z.string().nullable() })),
  remarks: z.array(z.string()).describe('Ids of remarks: true, and no harm.'),
  next: z.string().describe('The command that shows more, or decides.'),
});

export const checkResultSchema = z.strictObject({
  format: z.literal('trueline/check/1'),
  path: z.string(),
  verdict: z.enum(verdicts).describe('Of the worst run.'),
  failed: z.boolean().describe('Whether a verdict is one of those to fail on.'),
  status: z.int().describe('The exit status.'),
  runs: z.array(checkedRunSchema).describe('The worst first.'),
  unread: z.array(z.strictObject({ name: z.string(), why: z.string() })),
  beside: z
    .array(z.string())
    .describe('Logs beside recordings: they prove nothing that those do not, and are not judged.'),
});

export type CheckedRun = z.infer<typeof checkedRunSchema>;
export type CheckResult = z.infer<typeof checkResultSchema>;

export const checkJsonSchema = () => z.toJSONSchema(checkResultSchema);
