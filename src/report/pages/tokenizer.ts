/** Ids as text, from a tokenizer's own file: `tokenizer.json`, a vocabulary (text to id) or a list of texts. Only for reading: nothing here turns text into ids. */
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';

export type Decode = (id: number) => string | undefined;

/** Characters that stand for bytes in byte-level vocabularies, as GPT-2 began it: those that print stand for themselves, others follow from 256 on. */
const bytes = (() => {
  const table = new Map<string, number>();
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    table.set(String.fromCodePoint(prints ? byte : next++), byte);
  }
  return table;
})();

export function readTokenizer(text: string, name: string): Decode {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new BadInput(
      told(
        `${name} is no JSON; --tokenizer takes a tokenizer.json, a vocab.json or a list of texts`,
        `${name} 不是 JSON；--tokenizer 接受 tokenizer.json、vocab.json 或文本列表`,
      ),
    );
  }
  const pieces = piecesOf(data);
  if (pieces.size === 0)
    throw new BadInput(
      told(
        `${name} holds no vocabulary; --tokenizer takes a tokenizer.json, a vocab.json or a list of texts`,
        `${name} 里没有词表；--tokenizer 接受 tokenizer.json、vocab.json 或文本列表`,
      ),
    );
  const byteLevel = [...pieces.values()].some((piece) => piece.startsWith('Ġ'));
  return (id) => {
    const piece = pieces.get(id);
    return piece === undefined ? undefined : byteLevel ? fromBytes(piece) : fromPiece(piece);
  };
}

function piecesOf(data: unknown): Map<number, string> {
  const pieces = new Map<number, string>();
  /** Nothing but texts with an id each, which fill the range up to the last at least by half: a file of settings has whole numbers too. */
  const add = (vocabulary: unknown) => {
    const listed: [unknown, unknown][] = Array.isArray(vocabulary)
      ? vocabulary.map((item: unknown, id) => [Array.isArray(item) ? item[0] : item, id])
      : Object.entries((vocabulary as object | null) ?? {});
    if (!listed.every(([piece, id]) => typeof piece === 'string' && Number.isInteger(id) && Number(id) >= 0)) return;
    const ids = new Set(listed.map(([, id]) => Number(id)));
    if (2 * ids.size <= listed.reduce((last, [, id]) => Math.max(last, Number(id)), 0)) return;
    for (const [piece, id] of listed) pieces.set(id as number, piece as string);
  };
  const whole = data as { model?: { vocab?: unknown }; added_tokens?: unknown };
  if (whole?.model?.vocab) {
    add(whole.model.vocab);
    if (Array.isArray(whole.added_tokens))
      for (const token of whole.added_tokens as { id?: unknown; content?: unknown }[])
        if (Number.isInteger(token?.id) && typeof token.content === 'string')
          pieces.set(token.id as number, token.content);
  } else add(data);
  return pieces;
}

function fromBytes(piece: string): string {
  const codes = [...piece].map((character) => bytes.get(character));
  // A special token is text as it stands.
  if (codes.some((code) => code === undefined)) return piece;
  return new TextDecoder().decode(Uint8Array.from(codes as number[]));
}

function fromPiece(piece: string): string {
  const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(piece);
  return byte ? String.fromCharCode(Number.parseInt(byte[1], 16)) : piece.replaceAll('▁', ' ').replace(/^##/, '');
}
