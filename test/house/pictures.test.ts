/** Pictures show what their page says: each is made by scripts/pictures.mjs, from commands that its page shows. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/run.ts';

interface Made {
  file: string;
  page: string;
  commands: string[];
}
const { pictures } = (await import(new URL('../../scripts/pictures.mjs', import.meta.url).href)) as {
  pictures: Made[];
};
const text = (page: string) => readFileSync(join(root, page), 'utf8');

describe('the pictures of README and docs', () => {
  it('are all made by the script, and shown', () => {
    const there = ['docs/pictures', 'docs/studio'].flatMap((folder) =>
      readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
    );
    // Those of docs/language-models.md are not in the table.
    const expected = there.filter((file) => !file.startsWith('docs/pictures/tokens-')).sort();
    expect(pictures.map(({ file }) => file).sort()).toEqual(expected);
    const pages = [
      'README.md',
      ...readdirSync(join(root, 'docs'))
        .filter((name) => name.endsWith('.md'))
        .map((name) => `docs/${name}`),
    ];
    const shown = pages.map(text).join('\n');
    for (const { file } of pictures) expect(shown, file).toContain(`${file.split('/').slice(-2).join('/')})`);
  });

  it.each(pictures)('$file is of commands that $page shows', ({ page, commands }) => {
    for (const command of commands) expect(text(page).replaceAll(/\s+/g, ' ')).toContain(command);
  });
});
