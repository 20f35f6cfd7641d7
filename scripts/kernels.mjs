/** Compiles the AssemblyScript kernels to their two variants and writes them as a module of base64 text. Does nothing when the sources are unchanged. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sources = join(root, 'src', 'net', 'kernels', 'assembly');
const output = join(root, 'src', 'net', 'kernels', 'binary.generated.ts');
const stamp = join(root, 'build', 'kernels.stamp');

/** The most memory that one engine may use, in pages of 64 KiB: 2 GiB. */
const pages = 32768;
const variants = {
  relaxed: ['--enable', 'relaxed-simd'],
  simd: [],
};

const names = readdirSync(sources).sort();
const hash = createHash('sha256');
for (const name of names) hash.update(name).update(readFileSync(join(sources, name)));
hash.update(readFileSync(fileURLToPath(import.meta.url)));
hash.update(readFileSync(join(root, 'node_modules', 'assemblyscript', 'package.json')));
const wanted = hash.digest('hex');

if (!(existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted)) {
  const { default: asc } = await import('assemblyscript/asc');
  const lines = [];
  for (const [name, features] of Object.entries(variants))
    lines.push(`export const ${name} =\n  '${await compile(asc, features)}';`);
  const text = [
    '/** Made by scripts/kernels.mjs: the kernels as base64 text, compiled for shared memory. */',
    `export const maximumPages = ${pages};`,
    ...lines,
    '',
  ].join('\n');
  writeFileSync(`${output}.${process.pid}`, text);
  // Renamed when whole, so that a program that starts meanwhile never reads half a module.
  renameSync(`${output}.${process.pid}`, output);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
}

async function compile(asc, features) {
  let binary;
  const args = [
    'index.ts',
    '--outFile',
    'kernels.wasm',
    '--runtime',
    'stub',
    '--noAssert',
    '--noColors',
    '-O3',
    '--converge',
  ];
  args.push('--importMemory', '--sharedMemory', '--initialMemory', '1', '--maximumMemory', String(pages));
  // The kernels' constants lie between the engine's control words and its first block (src/net/wasm/threads.ts).
  args.push('--memoryBase', '1024');
  args.push('--enable', 'simd', '--enable', 'threads', ...features);
  // `abort` is never called without assertions; its import would be one more thing to provide.
  args.push('--use', 'abort=');
  const { error, stderr } = await asc.main(args, {
    readFile: (name) => {
      const path = join(sources, name);
      return existsSync(path) ? readFileSync(path, 'utf8') : null;
    },
    writeFile: (_name, contents) => {
      binary = contents;
    },
    listFiles: () => [],
  });
  if (error) throw new Error(`The kernels do not compile.\n${stderr.toString()}`, { cause: error });
  return Buffer.from(binary).toString('base64');
}
