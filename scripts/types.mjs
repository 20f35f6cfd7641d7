/** Copies the types that the entries of the library lead to into dist/types, those of bundled packages too: an installation brings neither them nor the types of what nobody can import. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './setup.mjs';

const dist = join(root, 'dist');
const out = join(dist, 'types');

/** `entries` are paths below dist/types; packages that stay outside of the bundle are found by whoever installs them. */
export function writeTypes(entries, outside) {
  rmSync(out, { recursive: true, force: true });
  const done = new Set();
  const copy = (from) => {
    if (done.has(from)) return;
    done.add(from);
    const to = placed(from);
    const text = readFileSync(from, 'utf8').replace(
      /(\bfrom |\bimport\()(["'])([^"']+)\2/g,
      (whole, before, quote, name) => {
        if (name.startsWith('node:') || outside.some((known) => name === known || name.startsWith(`${known}/`)))
          return whole;
        const target = name.startsWith('.') ? typesOf(join(dirname(from), name)) : ofPackage(name);
        copy(target);
        const path = relative(dirname(to), placed(target))
          .replaceAll('\\', '/')
          .replace(/d\.ts$/, 'js');
        return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`;
      },
    );
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, slim(text, from.startsWith(dist)));
  };
  for (const entry of entries) copy(join(dist, entry));
}

/**
 * Nobody reads the indentation of a declaration, nor what a package's authors noted beside theirs. What we say of ours shows in editors, but for the
 * sentence over a file's imports and what is private.
 */
function slim(text, ours) {
  const flat = text.replace(/^[ \t]+/gm, '');
  if (!ours) return flat.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\n\s*\n/g, '\n');
  return flat
    .replace(/^\/\*\*[\s\S]*?\*\/\s+(?=import |export \* |export \{)/, '')
    .replace(/(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?private (?!constructor)[^;{]*;\n/g, '');
}

/** Where a copy lies: ours as in dist, a package's below its name. */
const placed = (from) =>
  join(out, from.startsWith(dist) ? relative(dist, from) : relative(root, from).replace('node_modules', 'packages'));

function typesOf(path) {
  const file = path.replace(/(?<!\.d)\.c?[jt]s$/, '.d.ts');
  if (!existsSync(file)) throw new Error(`${file}: an entry of the library needs these types`);
  return file;
}

function ofPackage(name) {
  const folder = join(root, 'node_modules', name);
  const { exports, types } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { import: built } = exports?.['.'] ?? {};
  return typesOf(join(folder, built?.types ?? built ?? types));
}
