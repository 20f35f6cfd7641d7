/** Runs the TypeScript programs of bench/ against the built sources: each file is transpiled to build/, with its imports of src/ led to dist/. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './setup.mjs';

export async function importTypeScript(folder, name) {
  await transpile(folder);
  return import(pathToFileURL(join(root, 'build', folder, `${name}.js`)).href);
}

/** Every file below the folder that has changed. */
export async function transpile(folder) {
  for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
    const target = join(root, 'build', folder, file.replace(/\.ts$/, '.js'));
    const source = join(root, folder, file);
    const changed = Math.max(statSync(source).mtimeMs, statSync(import.meta.filename).mtimeMs);
    if (existsSync(target) && statSync(target).mtimeMs > changed) continue;
    const { default: ts } = await import('typescript');
    const compilerOptions = {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      verbatimModuleSyntax: true,
    };
    const { outputText } = ts.transpileModule(readFileSync(source, 'utf8'), { compilerOptions });
    const toRoot = relative(dirname(target), root).replaceAll('\\', '/');
    const text = outputText.replace(/(from |import\()'((?:\.\.?\/)+)([^']+)\.ts'/g, (_, keyword, up, path) =>
      path.startsWith('src/') ? `${keyword}'${toRoot}/dist/${path.slice(4)}.js'` : `${keyword}'${up}${path}.js'`,
    );
    mkdirSync(dirname(target), { recursive: true });
    // Renamed when whole, so that a program that starts meanwhile never reads half a module.
    writeFileSync(`${target}.${process.pid}`, text);
    renameSync(`${target}.${process.pid}`, target);
  }
}
