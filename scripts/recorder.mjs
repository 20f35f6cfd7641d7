/** Builds dist/trueline_recorder.py, the recorder as one file to copy, from the modules of python/trueline_recorder. Their names share one scope there: two of one name are refused. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './setup.mjs';

const folder = join(root, 'python', 'trueline_recorder');
const importLine = /^(?:import [^\n]+|from (\S+) import (?:\([^)]*\)|[^\n]+))\n/gm;

/** One module: the sentence it opens with, what it imports from outside, its neighbours, and the rest. */
function parse(file) {
  const text = readFileSync(file, 'utf8');
  const docstring = text.match(/^"""([\s\S]*?)"""\n/);
  const outside = [];
  const neighbours = [];
  const body = text.slice(docstring[0].length).replace(importLine, (line, from) => {
    if (from === '__future__') return '';
    if (!from?.startsWith('.')) {
      outside.push(line.trim());
      return '';
    }
    const [, dots, name] = from.match(/^(\.+)(.*)$/);
    neighbours.push(join(dirname(file), '../'.repeat(dots.length - 1), `${name.replaceAll('.', '/')}.py`));
    return '';
  });
  return { docstring: docstring[1], outside, neighbours, body: body.trim() };
}

const modules = new Map();
const order = [];
function visit(file) {
  if (modules.has(file)) return;
  const module = parse(file);
  modules.set(file, module);
  for (const neighbour of module.neighbours) visit(neighbour);
  order.push(file);
}
const top = join(folder, '__init__.py');
visit(top);

const owners = new Map();
for (const [file, { body }] of modules) {
  for (const [, name] of body.matchAll(/^(?:def |class |)([A-Za-z_]\w*)(?=\(|:| =)/gm)) {
    if (/^(if|else|try|except|finally|with|for|while)$/.test(name)) continue;
    const other = owners.get(name);
    if (other && other !== file)
      throw new Error(`${name} is defined in ${relative(root, other)} and ${relative(root, file)}`);
    owners.set(name, file);
  }
}
const imports = [...new Set([...modules.values()].flatMap(({ outside }) => outside))];
const typing = imports.filter((line) => line.startsWith('from typing import'));
const names = new Set(typing.flatMap((line) => line.replace('from typing import', '').replace(/[()]/g, '').split(',')));
const typed = [...names].map((name) => name.trim()).filter(Boolean);
const plain = imports.filter((line) => !typing.includes(line) && !line.includes('numpy')).sort();
const parts = order
  .filter((file) => file !== top)
  .map(
    (file) =>
      `# ${relative(folder, file)}: ${modules.get(file).docstring.replaceAll('\n', '\n# ')}\n\n${modules.get(file).body}`,
  );
const { docstring, body } = modules.get(top);
const whole = `"""${docstring}"""

# Built from python/trueline_recorder; change it there.

from __future__ import annotations

${plain.join('\n')}
from typing import ${typed.sort().join(', ')}

import numpy as np

${body}


${parts.join('\n\n\n')}
`;
const target = join(root, 'dist', 'trueline_recorder.py');
mkdirSync(dirname(target), { recursive: true });
// Left alone where it is the same, because another program may be reading it.
if (!existsSync(target) || readFileSync(target, 'utf8') !== whole) writeFileSync(target, whole);
