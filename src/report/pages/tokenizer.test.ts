import { describe, expect, it } from 'vitest';
import { readTokenizer } from './tokenizer.ts';

describe('a tokenizer, read for its texts', () => {
  it('takes byte-level vocabularies, with added tokens as they stand', () => {
    const decode = readTokenizer(
      JSON.stringify({
        model: { type: 'BPE', vocab: { Hello: 0, Ġworld: 1, Ċ: 2, Ã: 3, 'Ã©': 4 } },
        added_tokens: [{ id: 5, content: '<|im_end|>' }],
      }),
      'tokenizer.json',
    );
    expect([0, 1, 2, 4, 5, 6].map(decode)).toEqual(['Hello', ' world', '\n', 'é', '<|im_end|>', undefined]);
    // Half of a character is no text by itself.
    expect(decode(3)).toBe('\ufffd');
  });

  it('takes pieces of SentencePiece and WordPiece, and plain lists', () => {
    const pieces = readTokenizer(
      JSON.stringify({
        model: {
          type: 'Unigram',
          vocab: [
            ['<unk>', 0],
            ['▁the', -1],
            ['<0x0A>', -2],
          ],
        },
      }),
      'tokenizer.json',
    );
    expect([1, 2].map(pieces)).toEqual([' the', '\n']);
    expect(readTokenizer('{"un": 0, "##related": 1}', 'vocab.json')(1)).toBe('related');
    expect(readTokenizer('["_", "$", "0"]', 'list.json')(2)).toBe('0');
  });

  it('says what a file is not', () => {
    expect(() => readTokenizer('a b c', 'x.txt')).toThrow(/x\.txt is no JSON; --tokenizer takes/);
    const settings = '{"vocab_size": 32000, "num_hidden_layers": 2, "bos_token_id": 1}';
    const others = ['{"version": 1, "name": "x"}', '[1, 2]', '{"step": -1}', settings];
    for (const text of ['{}', '[]', 'null', '7', '{"model": {"vocab": {}}}', ...others])
      expect(() => readTokenizer(text, 'x.json')).toThrow(/holds no vocabulary/);
  });
});
