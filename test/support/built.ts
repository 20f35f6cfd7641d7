/** Builds what the tests start, once and before any of them. Runs outside of the tests, so that it may not import vitest. */
import { join, resolve } from 'node:path';

export default async function setup(): Promise<void> {
  const { ensureBuilt } = (await import(join(resolve(import.meta.dirname, '../..'), 'scripts/setup.mjs'))) as {
    ensureBuilt(): void;
  };
  ensureBuilt();
}
