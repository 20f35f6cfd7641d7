/** Compiles the native engine into dist/native where a C compiler is there and the sources have changed. Where that cannot be done, the program computes in WebAssembly, to the same bits. */
import { root } from './setup.mjs';

const { buildNative, findNative } = await import('../dist/net/native/node.js');
if ('reason' in findNative(root)) {
  try {
    console.error(`The native engine: ${buildNative(root)}`);
  } catch (error) {
    console.error(`The native engine is left out, and WebAssembly computes: ${error.message}.`);
  }
}
