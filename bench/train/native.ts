/** The native limit: compiles bench/native/update.cpp where there is a compiler, and times it. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { output } from '../support.ts';

const source = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'bench', 'native', 'update.cpp');

/** Gives the seconds of an update, or null where there is no compiler or no AVX2. */
export function nativeUpdate(folder: string, rows: number, hidden: number, repeat: number): (() => number) | null {
  const program = join(folder, 'update');
  const flags = ['-O3', '-march=native', '-ffast-math', '-pthread', '-o', program, source];
  if (spawnSync('g++', flags).status !== 0) return null;
  return () => Number(output(program, [rows, hidden, repeat].map(String)).split(' ')[0]);
}
