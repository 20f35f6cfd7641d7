/** manifest.json: what a run declared. Everything but the format is optional, and what is not known here is kept. */

import { z } from 'zod';
import { told } from '../language/language.ts';
import { BadInput } from './bad-input.ts';
import { parseJson } from './files/json.ts';

export const format = 'trueline/1';

const named = z.looseObject({ name: z.string() });
const agent = z.looseObject({ name: z.string(), policy: z.int().min(0).optional() });
const tensor = z.looseObject({
  name: z.string(),
  policy: z.int().min(0).optional(),
  role: z.enum(['trunk', 'head', 'critic', 'shared', 'other']).optional(),
  frozen: z.boolean().optional(),
  /** The optimiser that holds it never stepped, and it is what it was in the beginning. */
  never_stepped: z.boolean().optional(),
  size: z.int().min(0).optional(),
});

/** What a recorder says of itself: whether it had to stop before the run did, what it warned of, and where the program calls it. */
const recorder = z.looseObject({
  stopped: z.looseObject({ iteration: z.int().min(0), reason: z.string() }).optional(),
  /** FILE:LINE of the program's first call of each of its functions. */
  calls: z.record(z.string(), z.string()).optional(),
  warnings: z.array(z.looseObject({ iteration: z.int().min(0), text: z.string() })).optional(),
});

export const manifestSchema = z.looseObject({
  format: z.literal(format),
  name: z.string().optional(),
  seed: z.number().optional(),
  algorithm: z.string().optional(),
  agents: z.array(agent).optional(),
  policies: z.array(named).optional(),
  tensors: z.array(tensor).optional(),
  settings: z.record(z.string(), z.unknown()).optional(),
  agent_settings: z.array(z.record(z.string(), z.unknown())).optional(),
  environment: z.looseObject({ name: z.string().optional(), seats: z.int().min(1).optional() }).optional(),
  writer: z
    .looseObject({
      name: z.string().optional(),
      version: z.string().optional(),
      kernel: z.string().optional(),
      engine: z.string().optional(),
    })
    .optional(),
  recorder: recorder.optional(),
  /** The bug of the zoo that a run was given on purpose. For people who compare runs: the doctor never reads it. */
  fault: z.string().optional(),
  /** How the run ended; absent while it is being written, and where the writer did not say. */
  ended: z.string().optional(),
  /** Lists that text columns kept as indices point into, by "table.column". */
  names: z.record(z.string(), z.array(z.string())).optional(),
});

export type Manifest = z.infer<typeof manifestSchema>;

export function parseManifest(bytes: Uint8Array, file: string): Manifest {
  let data: unknown;
  try {
    data = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof BadInput) throw error.within({ file });
    const why = bytes.length === 0 ? 'it is empty' : (error as Error).message;
    throw new BadInput(
      told(
        `is not valid JSON (${why}); write it again, or take it from another copy of the run`,
        `不是有效的 JSON（${why}）；请重写，或从该训练的另一份副本取得`,
      ),
      { file },
    );
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new BadInput(told('must hold one JSON object', '应是一个 JSON 对象'), { file });
  const declared = (data as { format?: unknown }).format;
  if (declared !== format) {
    throw new BadInput(
      declared === undefined
        ? told(
            `has no "format"; a recording says "format": "${format}"`,
            `没有 "format"；记录应写 "format": "${format}"`,
          )
        : told(
            `has the format ${JSON.stringify(declared)}; this program reads "${format}"`,
            `的格式是 ${JSON.stringify(declared)}；本程序读取 "${format}"`,
          ),
      { file },
    );
  }
  const parsed = manifestSchema.safeParse(data);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new BadInput(
      told(
        `${issue.path.join('.') || 'the manifest'}: ${issue.message}`,
        `${issue.path.join('.') || '清单'}：${issue.message}`,
      ),
      { file },
    );
  }
  return parsed.data;
}

export function manifestBytes(manifest: Manifest): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`);
}
