/** Writes dist/LICENCES.md: every package that an installation of this one brings, optional ones and those inside of its bundle too, with its licence. Fails on one that does not go with MIT. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const accepted = [
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
  'Python-2.0',
  'Zlib',
];

/** An expression goes with MIT where one side of every OR, and every side of an AND, does. */
export const goesWithMit = (licence) =>
  licence
    .replace(/[()]/g, '')
    .split(/ OR /i)
    .some((choice) => choice.split(/ AND /i).every((name) => accepted.includes(name.trim())));

/** Every package that the names lead to, found as Node finds them: beside the one that asks, or above it. */
export function productionPackages(folder = root) {
  const found = new Map();
  const visit = (at, optional) => {
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
      peerDependenciesMeta = {},
    } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
    const wanted =
      at === folder ? { ...dependencies, ...peerDependencies } : { ...dependencies, ...optionalDependencies };
    for (const name of Object.keys(wanted)) {
      const place = places(at, name).find((path) => existsSync(join(path, 'package.json')));
      // What is built for another system is not installed here.
      if (!place) continue;
      const own = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
      const aside = optional || peerDependenciesMeta[name]?.optional === true;
      const known = found.get(place);
      if (known && (!known.optional || aside)) continue;
      keep(place, own, aside);
      visit(place, aside);
    }
  };
  const keep = (place, own, optional) =>
    found.set(place, { name: own.name, version: own.version, licence: licenceOf(place, own), optional });
  visit(folder, false);
  for (const name of JSON.parse(readFileSync(join(folder, 'dist/program/packages.json'), 'utf8'))) {
    const place = join(folder, 'node_modules', name);
    keep(place, JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')), false);
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What a package states, or the name at the head of the file that it points to. */
function licenceOf(place, { license, licenses }) {
  const stated = typeof license === 'string' ? license : (license?.type ?? licenses?.[0]?.type ?? 'unknown');
  const file = /^SEE LICENSE IN (.+)$/.exec(stated)?.[1];
  if (!file || !existsSync(join(place, file))) return stated;
  return /^\s*The MIT License/i.test(readFileSync(join(place, file), 'utf8')) ? 'MIT' : stated;
}

function* above(at) {
  for (let path = at; path.startsWith(root); path = join(path, '..')) {
    yield path;
    if (path === root) return;
  }
}
const places = (at, name) => [...above(at)].map((path) => join(path, 'node_modules', name));

export function writeLicences() {
  const packages = productionPackages();
  const wrong = packages.filter(({ licence }) => !goesWithMit(licence));
  if (wrong.length > 0)
    throw new Error(`these do not go with MIT: ${wrong.map(({ name, licence }) => `${name} (${licence})`).join(', ')}`);
  const rows = packages.map(
    ({ name, version, licence, optional }) =>
      `| ${name} | ${version} | ${licence} | ${optional ? 'only where asked for' : 'always'} |`,
  );
  const text = [
    '# Packages that Trueline is installed with',
    '',
    '| package | version | licence | installed |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ];
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(join(root, 'dist', 'LICENCES.md'), text.join('\n'));
}
