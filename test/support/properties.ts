/** Property tests draw the same examples in every run, so that a failure is one for everybody; TRUELINE_SEED tries others. Arrays of numbers with the same bytes are equal at once. */
import fc from 'fast-check';
import { expect } from 'vitest';

fc.configureGlobal({ seed: Number(process.env.TRUELINE_SEED ?? 1) });

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) => Buffer.from(buffer, byteOffset, byteLength);

/** Entry by entry, arrays of a million numbers take seconds. Where bytes differ, they are compared as ever: 0 and -0 do, and so may NaN. */
function sameBytes(a: unknown, b: unknown): boolean | undefined {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b) || a.constructor !== b.constructor) return undefined;
  return bytesOf(a).equals(bytesOf(b)) || undefined;
}

// Files of tests share a worker, and each of them comes by here.
const added = Symbol.for('trueline.sameBytes');
if (!(added in globalThis)) {
  Object.assign(globalThis, { [added]: true });
  expect.addEqualityTesters([sameBytes]);
}
