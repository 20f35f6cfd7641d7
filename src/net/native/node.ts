/** Finds the native kernels, and compiles them where a C compiler is there. A file that was built from other sources is never taken. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { NativeAddon } from '../platform.ts';

const load = createRequire(import.meta.url);

/** Flags of every file: no operation may be contracted or reordered, because native and WASM give the same bits. */
const flags = [
  '-std=gnu11',
  '-O3',
  '-fPIC',
  '-fvisibility=hidden',
  '-ffp-contract=off',
  '-fno-math-errno',
  '-fno-strict-aliasing',
];

/** One compilation of kernels.c for each width of vectors, by the name of the CPU. */
const variants: Record<string, Record<string, readonly string[]>> = {
  x64: {
    avx512: ['-DW=16', '-mavx512f', '-mavx512vl', '-mavx512dq', '-mavx512bw', '-mfma', '-mprefer-vector-width=512'],
    avx2: ['-DW=8', '-mavx2', '-mfma'],
    fma: ['-DW=4', '-mavx', '-mfma'],
  },
  arm64: { neon: ['-DW=4'] },
};

/** The name tells what a file was built from, so that one built from other sources is not taken. */
const fileName = (sources: string) => `trueline-${process.platform}-${process.arch}-${sources}.node`;

/** A hash of all that the compiler is given; null where the sources are not there. */
export function nativeSources(root: string): string | null {
  const folder = join(root, 'src/net/native');
  if (!existsSync(folder)) return null;
  const hash = createHash('sha256').update(JSON.stringify([flags, variants]));
  for (const name of readdirSync(folder).sort())
    if (/\.[ch]$/.test(name)) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

/** Where a built file may lie: beside the program, or in the user's own cache where the program's folder is not theirs. */
function places(root: string, sources: string): string[] {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return [join(root, 'dist/native'), join(cache, 'trueline')].map((folder) => join(folder, fileName(sources)));
}

export type FoundNative = { addon: NativeAddon; file: string } | { reason: string };
let found: FoundNative | undefined;

/** The kernels that were built for this program, or why there are none. Looked for once. */
export function findNative(root: string): FoundNative {
  found ??= look(root);
  return found;
}

function look(root: string): FoundNative {
  const sources = nativeSources(root);
  if (sources === null) return { reason: 'its sources are not there' };
  let reason = 'none is built; trueline engine build compiles one';
  for (const file of places(root, sources)) {
    if (!existsSync(file)) continue;
    try {
      const addon = load(file) as NativeAddon;
      if (addon.variants.length > 0) return { addon, file };
      return { reason: 'this CPU has no fused multiply-add, without which the bits would differ' };
    } catch (error) {
      const [said] = (error as Error).message.split('\n');
      reason = `${file} does not load (${said}); trueline engine build builds one for this machine`;
    }
  }
  return { reason };
}

/** The C compiler, as $CC or by its usual names; null where there is none. */
export function findCompiler(): string | null {
  const names = process.env.CC ? [process.env.CC] : ['cc', 'gcc', 'clang'];
  return names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0) ?? null;
}

/** Compiles the kernels and returns the file; throws one sentence that says why it could not. */
export function buildNative(root: string): string {
  const sources = nativeSources(root);
  if (sources === null) throw new Error(`the sources of the native engine are not in ${join(root, 'src/net/native')}`);
  const wanted = variants[process.arch];
  if (!wanted || process.platform === 'win32')
    throw new Error(`there is no native engine for ${process.platform} on ${process.arch}; WebAssembly computes there`);
  const compiler = findCompiler();
  if (compiler === null)
    throw new Error('there is no C compiler here; install gcc or clang, or name one by the variable CC');
  found = undefined;
  const work = mkdtempSync(join(tmpdir(), 'trueline-native-'));
  try {
    const from = (name: string) => join(root, 'src/net/native', name);
    const objects = Object.entries(wanted).map(([name, own]) => {
      const object = join(work, `${name}.o`);
      compile(compiler, [...flags, ...own, `-DVARIANT=${name}`, '-c', from('kernels.c'), '-o', object]);
      return object;
    });
    const built = join(work, 'native.node');
    const link = process.platform === 'darwin' ? ['-bundle', '-undefined', 'dynamic_lookup'] : ['-shared', '-pthread'];
    compile(compiler, [...flags, ...link, from('addon.c'), ...objects, '-o', built]);
    return keep(built, places(root, sources));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function compile(compiler: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(compiler, args, { encoding: 'utf8' });
  if (status !== 0)
    throw new Error(
      `${compiler} could not compile the native engine: ${(error?.message ?? stderr).trim().split('\n')[0]}`,
    );
}

/** Puts the file where it may be written, whole at once; files from other sources go. One that is loaded stays as it is for who has it. */
function keep(built: string, files: readonly string[]): string {
  let failure: unknown;
  for (const file of files) {
    const folder = dirname(file);
    try {
      mkdirSync(folder, { recursive: true });
      copyFileSync(built, `${file}.${process.pid}`);
      renameSync(`${file}.${process.pid}`, file);
    } catch (error) {
      failure = error;
      continue;
    }
    for (const name of readdirSync(folder))
      if (name.endsWith('.node') && join(folder, name) !== file) rmSync(join(folder, name), { force: true });
    return file;
  }
  throw new Error(`the native engine could not be kept: ${(failure as Error).message}`);
}
