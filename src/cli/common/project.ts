/** What a project says of its runs: causes that it has accepted, the settings that it means, and when a check fails. From the flags, and from trueline.yaml (or .json) beside the run or in the current folder. Nothing is silenced unseen: reports show what was ignored, and why. */

import { access, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { causeById } from '../../doctor/causes.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { writeWhole } from '../../recording/node.ts';
import { readConfig } from './config.ts';

export const verdicts = ['faulty', 'unexplained', 'not-enough-evidence', 'healthy'] as const;

/** Those that fail a check unless others are named. */
export const failingVerdicts: readonly (typeof verdicts)[number][] = ['faulty', 'unexplained'];

const entry = z.union([
  z.string().describe('The id of a cause.'),
  z.strictObject({
    cause: z.string().describe('The id of a cause; trueline explain lists them.'),
    reason: z.string().optional().describe('Why it is accepted; shown wherever the cause is.'),
  }),
]);

export const projectSchema = z.strictObject({
  diagnose: z
    .strictObject({
      ignore: z.array(entry).default([]).describe('Causes that are accepted, each an id or an object with a reason.'),
    })
    .default({ ignore: [] })
    .describe('What the doctor is to leave aside.'),
  settings: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Settings that are meant, such as gamma: 0.99; a run is held to them, whatever its manifest says.'),
  check: z
    .strictObject({
      fail_on: z
        .array(z.enum(verdicts))
        .optional()
        .describe('Verdicts with which `trueline check` ends with status 1.'),
    })
    .default({})
    .describe('What makes `trueline check` fail.'),
});

export interface Project {
  /** Ids of the causes that are accepted. */
  ids: string[];
  reasons: Record<string, string>;
  settings: Record<string, unknown>;
  failOn?: readonly (typeof verdicts)[number][];
  /** The file that was read, if any. */
  file?: string;
  /** Whether the file was named by the user. */
  given: boolean;
}

/** Nothing is accepted, and nothing is meant beyond what the run says. */
export const noProject: Project = { ids: [], reasons: {}, settings: {}, given: false };

const names = ['trueline.yaml', 'trueline.yml', 'trueline.json'];

/** In the run's folder, beside it, or in the current folder; the first that is there. */
export async function readProject(path: string, flags: { ignore: string[]; config?: string }): Promise<Project> {
  const folders = [...new Set([resolve(path), dirname(resolve(path)), process.cwd()])];
  const places = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const file = flags.config ?? (await first(places));
  const found: Project = { ...noProject, ids: [...flags.ignore], reasons: {}, given: flags.config !== undefined };
  if (file === undefined) return found;
  const read = projectSchema.safeParse(await readConfig(file));
  if (!read.success) throw new BadInput(complaint(read.error), { file });
  for (const item of read.data.diagnose.ignore) {
    const { cause, reason } = typeof item === 'string' ? { cause: item, reason: undefined } : item;
    if (!causeById(cause))
      throw new BadInput(
        told(
          `diagnose.ignore names ${JSON.stringify(cause)}, but there is no such cause; \`trueline explain\` lists them all`,
          `diagnose.ignore 写了 ${JSON.stringify(cause)}，但没有这个原因；\`trueline explain\` 列出全部`,
        ),
        { file },
      );
    found.ids.push(cause);
    if (reason !== undefined) found.reasons[cause] = reason;
  }
  const { settings, check } = read.data;
  return { ...found, settings, file, ...(check.fail_on ? { failOn: check.fail_on } : {}) };
}

/** Keeps a cause as accepted, with the reason, in the project's file; what else stands there, comments too, stays as it is. Returns the file. */
export async function acceptCause(project: Project, cause: string, reason: string): Promise<string> {
  if (!causeById(cause))
    throw new BadInput(
      told(
        `there is no cause ${JSON.stringify(cause)} to ignore; \`trueline explain\` lists them all`,
        `没有可忽略的原因 ${JSON.stringify(cause)}；\`trueline explain\` 列出全部`,
      ),
    );
  const file = project.file ?? 'trueline.yaml';
  const text = project.file === undefined ? '' : await readFile(file, 'utf8');
  // JSON is YAML too, and is written back as JSON.
  const { parseDocument, YAMLSeq } = await import('yaml');
  const document = parseDocument(text);
  const isSame = (item: unknown) => item === cause || (item as { cause?: unknown } | null)?.cause === cause;
  const before = (document.toJS()?.diagnose?.ignore ?? []) as unknown[];
  if (!before.some(isSame)) {
    if (before.length === 0) document.setIn(['diagnose', 'ignore'], new YAMLSeq());
    document.addIn(['diagnose', 'ignore'], document.createNode({ cause, reason }));
  } else document.setIn(['diagnose', 'ignore', before.findIndex(isSame)], document.createNode({ cause, reason }));
  const written = file.endsWith('.json') ? `${JSON.stringify(document.toJS(), null, 2)}\n` : document.toString();
  await writeWhole(file, [new TextEncoder().encode(written)]);
  return file;
}

async function first(places: readonly string[]): Promise<string | undefined> {
  for (const place of places) {
    const there = await access(place).then(
      () => true,
      () => false,
    );
    if (there) return place;
  }
  return undefined;
}

function complaint(error: z.ZodError): string {
  const [issue] = error.issues;
  const where = issue.path.join('.');
  const what = issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
  return `${where ? `${where}: ` : ''}${what}; it may hold {"diagnose": {"ignore": [{"cause": "ID", "reason": "..."}]}, "settings": {...}, "check": {"fail_on": [...]}}`;
}
