/** Keeps the Chinese pages in step with the English ones: what needs no translator (headings, code, links, figures) must be the same; wording is not compared. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const chineseOf = new Map([
  ['README.md', 'README.zh.md'],
  ...['diagnosis', 'logs', 'pytorch', 'symmetry', 'training'].map((name): [string, string] => [
    `docs/${name}.md`,
    `docs/zh/${name}.md`,
  ]),
]);
const englishOf = new Map(Array.from(chineseOf, ([english, chinese]) => [chinese, english]));
/** The same page in the other language, where it has one: pages link within their language, and to their counterpart. */
const counterpart = (path: string) => chineseOf.get(path) ?? englishOf.get(path) ?? path;

type Part = 'code block' | 'inline code' | 'link' | 'figure' | 'list item or table row';
type Section = { level: number; title: string; parts: Record<Part, string[]> };

/** Sorts what stands in a section's prose; another language has another word order. */
function partsOf(page: string, prose: string, code: string[]): Section['parts'] {
  const inline: string[] = [];
  const links: string[] = [];
  const words = prose
    .replace(/`[^`]+`/g, (span) => {
      inline.push(span.replace(/\s+/g, ' '));
      return ' ';
    })
    .replace(/\]\(([^)\s]+)\)/g, (_, target: string) => {
      links.push(/^[a-z]+:/.test(target) ? target : relative(root, resolve(root, dirname(page), target)));
      return '] ';
    });
  return {
    'code block': [...code].sort(),
    'inline code': inline.sort(),
    link: links.sort(),
    figure: (words.match(/\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?/g) ?? []).sort(),
    'list item or table row': Array.from(prose.matchAll(/^\s*(- |\d+\. |\|)/gm), ([, mark]) => mark).sort(),
  };
}

/** Splits a page at its headings. */
function sections(page: string, text: string): Section[] {
  const found = [
    { level: 0, title: 'what stands before the first heading', prose: [] as string[], code: [] as string[] },
  ];
  /** The code block being read, which ends with a fence or, if it is indented, before the next line that is not. */
  let block: { lines: string[]; fenced: boolean } | undefined;
  const close = () => {
    if (block) found[found.length - 1].code.push(block.lines.join('\n').trimEnd());
    block = undefined;
  };
  let before = '';
  for (const line of text.split('\n')) {
    const fence = line.startsWith('```');
    const indented = line.startsWith('    ');
    if (block?.fenced === false && line !== '' && !indented) close();
    if (block) {
      block.lines.push(line);
      if (fence && block.fenced) close();
    } else if (fence || (indented && before === '')) {
      block = { lines: [line], fenced: fence };
    } else {
      const level = /^#+(?= )/.exec(line)?.[0].length;
      if (level !== undefined) found.push({ level, title: line, prose: [], code: [] });
      found[found.length - 1].prose.push(line);
    }
    before = line;
  }
  close();
  return found.map(({ level, title, prose, code }) => ({ level, title, parts: partsOf(page, prose.join('\n'), code) }));
}

/** What `list` has more of than `other`. */
function surplus(list: string[], other: string[]): string[] {
  const left = [...other];
  return list.filter((entry) => {
    const at = left.indexOf(entry);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** One sentence for every section of a Chinese page that is out of step with its English page. */
function differences(english: string, englishText: string, chinese: string, chineseText: string): string[] {
  const expected = sections(english, englishText);
  const actual = sections(chinese, chineseText);
  for (const { parts } of expected) parts.link = parts.link.map(counterpart).sort();
  const sentences: string[] = [];
  for (let index = 0; index < Math.max(expected.length, actual.length); index++) {
    const [from, to] = [expected[index], actual[index]];
    if (from === undefined)
      return [...sentences, `${chinese} has a section that ${english} does not have: ${to.title}`];
    if (to === undefined) return [...sentences, `${chinese} lacks the section "${from.title}" of ${english}`];
    // Beyond a heading that differs every section would be compared with another one.
    if (from.level !== to.level)
      return [
        ...sentences,
        `${chinese} has the heading "${to.title}" where ${english} has "${from.title}", of another level`,
      ];
    for (const part of Object.keys(from.parts) as Part[]) {
      const told = [
        ['lacks', surplus(from.parts[part], to.parts[part])] as const,
        ['has too many:', surplus(to.parts[part], from.parts[part])] as const,
      ].filter(([, list]) => list.length > 0);
      if (told.length > 0)
        sentences.push(
          `${chinese}, section "${to.title}", is not in step with "${from.title}" of ${english}, by ${part}: it ` +
            told.map(([verb, list]) => `${verb} ${list.join(' ; ')}`).join(', and '),
        );
    }
  }
  return sentences;
}

const read = (page: string) => readFileSync(join(root, page), 'utf8');

describe('the Chinese pages', () => {
  it.each([...chineseOf])('%s is followed by %s', (english, chinese) => {
    expect(differences(english, read(english), chinese, read(chinese))).toEqual([]);
  });

  it.each([...englishOf.keys()])('%s is in Chinese, and links to files that exist', (page) => {
    const all = sections(page, read(page));
    for (const { title, level } of all)
      if (level > 0 && title !== '# Trueline') expect(title).toMatch(/\p{Script=Han}/u);
    const targets = all.flatMap(({ parts }) => parts.link).filter((target) => !/^[a-z]+:/.test(target));
    expect(targets).toContain(englishOf.get(page));
    expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });

  it('are in the package', () => {
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    for (const page of englishOf.keys()) expect(files).toContain(page.startsWith('docs/') ? 'docs' : basename(page));
  });

  it.each([
    ['a heading', '## Two', '### Two', /has the heading "## 二" where docs\/a\.md has "### Two"/],
    ['a new section', 'Last.', 'Last.\n\n## Three', /lacks the section "## Three" of docs\/a\.md/],
    ['a command', 'trueline check', 'trueline check --json', /"## 二", .* by code block: it lacks .*--json/s],
    ['an indented command', '    npm test', '    npm start', /by code block: it lacks {5}npm start/],
    ['an option', '`--all`', '`--every`', /"## 二", .* by inline code: it lacks `--every`, and has too many: `--all`/],
    ['a figure', '1,000', '2,000', /"# 一", .* by figure: it lacks 2,000, and has too many: 1,000/],
    ['a link', 'zoo.md', 'games.md', /by link: it lacks docs\/games\.md, and has too many: docs\/zoo\.md/],
    ['an item', '- first', '- first\n- second', /by list item or table row: it lacks - $/],
  ])('are found out of step by %s', (_, from, to, sentence) => {
    const english =
      '# One\n\n1,000 rows, see [zoo](zoo.md).\n\n    npm test\n\n## Two\n\n```sh\ntrueline check\n```\n\n- first `--all`\n\nLast.\n';
    const chinese =
      '# 一\n\n1,000 行，见[动物园](../zoo.md)。\n\n    npm test\n\n## 二\n\n```sh\ntrueline check\n```\n\n- 第一 `--all`\n\n完。\n';
    const tell = (text: string) => differences('docs/a.md', text, 'docs/zh/a.md', chinese);
    expect(tell(english)).toEqual([]);
    expect(tell(english.replace(from, to))).toEqual([expect.stringMatching(sentence)]);
  });
});
