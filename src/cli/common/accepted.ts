/** Causes that the user has accepted: from --ignore, and from trueline.json or trueline.yaml beside the run or in the current folder. Nothing is silenced unseen: reports show what was ignored, and why. */
import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { causeById } from '../../doctor/causes.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { readConfig } from './settings.ts';

const entry = z.union([
  z.string().describe('The id of a cause.'),
  z.strictObject({
    cause: z.string().describe('The id of a cause; trueline explain lists them.'),
    reason: z.string().optional().describe('Why it is accepted; shown wherever the cause is.'),
  }),
]);

export const acceptedSchema = z.strictObject({
  diagnose: z
    .strictObject({
      ignore: z.array(entry).default([]).describe('Causes that are accepted, each an id or an object with a reason.'),
    })
    .default({ ignore: [] })
    .describe('What trueline diagnose is to leave aside.'),
});

export interface Accepted {
  ids: string[];
  reasons: Record<string, string>;
  /** The file that was read, if any. */
  file?: string;
  /** Whether the file was named by the user. */
  given: boolean;
}

const names = ['trueline.json', 'trueline.yaml', 'trueline.yml'];

/** In the run's folder, beside it, or in the current folder; the first that is there. */
export async function accepted(path: string, flags: { ignore: string[]; config?: string }): Promise<Accepted> {
  const folders = [...new Set([resolve(path), dirname(resolve(path)), process.cwd()])];
  const places = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const file = flags.config ?? (await first(places));
  const found: Accepted = { ids: [...flags.ignore], reasons: {}, given: flags.config !== undefined };
  if (file === undefined) return found;
  const read = acceptedSchema.safeParse(await readConfig(file));
  if (!read.success) throw new BadInput(complaint(read.error), { file });
  for (const item of read.data.diagnose.ignore) {
    const { cause, reason } = typeof item === 'string' ? { cause: item, reason: undefined } : item;
    if (!causeById(cause))
      throw new BadInput(
        `diagnose.ignore names ${JSON.stringify(cause)}, but there is no such cause; \`trueline explain\` lists them all`,
        { file },
      );
    found.ids.push(cause);
    if (reason !== undefined) found.reasons[cause] = reason;
  }
  return { ...found, file };
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
  return `${where ? `${where}: ` : ''}${what}; it holds {"diagnose": {"ignore": [{"cause": "ID", "reason": "..."}]}}`;
}
