import { expect, it } from 'vitest';
import { secondsOf } from '../../../test/support/time.ts';
import { BadInput } from '../bad-input.ts';
import { parseJson, parsePythonJson } from './json.ts';

it.each(['{"__proto__": 1}', '[{"a": {"__proto__": {}}}]', '{"\\u005f_proto__": 1}', '{"_\\u005Fproto__": null}'])(
  'the key __proto__ is refused however it is written: %s',
  (text) => {
    expect(() => parseJson(text)).toThrow(BadInput);
    expect(() => parsePythonJson(text)).toThrow(/__proto__/);
  },
);

it('the text __proto__ is no key', () => {
  expect(parseJson('{"name": "__proto__", "x": "\\u005f"}')).toEqual({ name: '__proto__', x: '_' });
});

it("reads Python's bare numbers, and leaves the same words alone in strings", () => {
  expect(parsePythonJson('{"a": NaN, "b": [Infinity, -Infinity], "c": "NaN \\" Infinity", "NaN": 1}')).toEqual({
    a: 'NaN',
    b: ['Infinity', '-Infinity'],
    c: 'NaN " Infinity',
    NaN: 1,
  });
  expect(() => parsePythonJson('{"a": NaNa}')).toThrow(SyntaxError);
});

it('takes time in proportion to a text that is no JSON', async () => {
  for (const bad of ['"\\"', '"', '\\', 'N', '-', '"\\\\']) {
    const text = `{NaN${bad.repeat(2_000_000 / bad.length)}`;
    // In proportion to its square it would take hours.
    expect(await secondsOf(() => expect(() => parsePythonJson(text)).toThrow(SyntaxError))).toBeLessThan(2);
  }
});
