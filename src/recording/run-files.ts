/** Which files a run writes. Whatever is called otherwise is somebody else's: it is neither taken from a stranger's list nor ever removed. */
import { tableSpec } from './columns.ts';
import { chunkFile } from './recording.ts';

const single = ['manifest.json', 'result.json', 'failure.json'];

export function isRunFile(path: string): boolean {
  if (single.includes(path) || /^checkpoints\/\d{8,12}\.checkpoint$/.test(path)) return true;
  if (/^policies\/[^./\\\0][^/\\\0]{0,220}\.onnx$/.test(path)) return true;
  const [, table, name] = chunkFile.exec(path) ?? [];
  return table !== undefined && tableSpec(table) !== undefined && /^\d{6,12}(-\d{6,12})?$/.test(name);
}

/** For how many seconds a run was written to, by all its writers together. It is no part of the recording, which is the same to the bit each time. */
export const timeFile = '.trueline-seconds';
