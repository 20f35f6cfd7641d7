/** Lines of a text file, plain or gzipped, read piece by piece. A byte order mark at the start is not part of the first line. */
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { type Budget, type ByteSource, formatBytes } from '../source.ts';
import { codec } from './codec.ts';

/** Once it is parsed, a line takes up to twenty times its length. */
const longestLine = 2 ** 24;

export async function* lines(source: ByteSource, budget: Budget): AsyncGenerator<string> {
  for await (const block of blocksOfLines(source, budget)) yield* block;
}

/** The same, so many lines at a time as one piece of the file holds: a wait for every line would take longer than reading it. */
export async function* blocksOfLines(source: ByteSource, budget: Budget): AsyncGenerator<string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const packed = source.name.endsWith('.gz');
  // Pieces of a line that has not ended yet; joined once, when it does.
  let open: string[] = [];
  let length = 0;
  let size = 0;
  let line = 0;
  const decode = (piece?: Uint8Array) => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw new BadInput(
        told(
          `line ${line + 1} or one soon after it is not UTF-8 text; the file is damaged`,
          `第 ${line + 1} 行或其后不久不是 UTF-8 文本；文件已损坏`,
        ),
        {
          file: source.name,
        },
      );
    }
  };
  try {
    for await (const piece of packed ? codec().gunzip(pieces(source)) : pieces(source)) {
      size += piece.length;
      budget.claim(source.name, size, source);
      const parts = decode(piece).split('\n');
      const last = parts.pop() as string;
      if (parts.length > 0) {
        line += parts.length;
        parts[0] = open.join('') + parts[0];
        open = [];
        length = 0;
        yield parts;
      }
      open.push(last);
      length += last.length;
      if (length > longestLine)
        throw new BadInput(
          told(
            `line ${line + 1} is longer than ${formatBytes(longestLine)}`,
            `第 ${line + 1} 行长于 ${formatBytes(longestLine)}`,
          ),
          { file: source.name },
        );
    }
  } catch (error) {
    throw error instanceof BadInput ? error.within({ file: source.name }) : error;
  }
  const rest = open.join('') + decode();
  if (rest !== '') yield [rest];
}

async function* pieces(source: ByteSource): AsyncGenerator<Uint8Array> {
  const step = 1 << 20;
  for (let at = 0; at < source.size; at += step) yield await source.read(at, Math.min(source.size, at + step));
}
