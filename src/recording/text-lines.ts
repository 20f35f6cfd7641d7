/** Lines of a text file, plain or gzipped, read piece by piece. A byte order mark at the start is not part of the first line. */
import { BadInput } from './bad-input.ts';
import { codec } from './codec.ts';
import type { Budget, ByteSource } from './source.ts';

export async function* lines(source: ByteSource, budget: Budget): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const packed = source.name.endsWith('.gz');
  let rest = '';
  let size = 0;
  let line = 0;
  const decode = (piece?: Uint8Array) => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw new BadInput(`line ${line + 1} or one soon after it is not UTF-8 text; the file is damaged`, {
        file: source.name,
      });
    }
  };
  try {
    for await (const piece of packed ? codec().gunzip(pieces(source)) : pieces(source)) {
      size += piece.length;
      budget.claim(source.name, size);
      const parts = (rest + decode(piece)).split('\n');
      rest = parts.pop() as string;
      if (rest.length > 2 ** 28) throw new BadInput(`line ${line + 1} is longer than 256 MiB`, { file: source.name });
      for (const part of parts) {
        line++;
        yield part;
      }
    }
  } catch (error) {
    throw error instanceof BadInput ? error.within({ file: source.name }) : error;
  }
  rest += decode();
  if (rest !== '') yield rest;
}

async function* pieces(source: ByteSource): AsyncGenerator<Uint8Array> {
  const step = 1 << 20;
  for (let at = 0; at < source.size; at += step) yield await source.read(at, Math.min(source.size, at + step));
}
