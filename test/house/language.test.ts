import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import ts from 'typescript';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chineseHelp } from '../../src/cli/common/chinese.ts';
import { program } from '../../src/cli/main.ts';
import { speak } from '../../src/language/language.ts';

const src = resolve(import.meta.dirname, '../../src');
/** What complains, and which of its arguments is the sentence. */
const complaints = new Map([
  ['BadInput', 0],
  ['GameRefusal', 0],
  ['InvalidArgumentError', 0],
  ['this.report', 1],
  ['this.guard.nameCause', 1],
  ['GuardStop', 1],
]);
const isChinese = (text: string) => /[\u4e00-\u9fff]/.test(text);
/** Two words after each other: a sentence, where a lone word may be a name or a code. */
const isSaid = (text: string) => /[a-z]{2,}[,;:]? [a-z]/i.test(text);
const isText = (node: ts.Node): node is ts.LiteralExpression | ts.TemplateExpression =>
  ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node);

/** What every file says, and where: sentences of complaints in one language alone, and pairs whose second is not Chinese. */
function found(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  if (!text.includes('told(') && ![...complaints.keys()].some((name) => text.includes(`${name}(`))) return [];
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const wrong: string[] = [];
  const note = (node: ts.Node) => {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    wrong.push(`${path.slice(src.length + 1)}:${line + 1} ${node.getText().slice(0, 80)}`);
  };
  const alone = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'told') return;
    if (isText(node) && isSaid(node.getText())) note(node);
    else ts.forEachChild(node, alone);
  };
  const visit = (node: ts.Node): void => {
    const called = ts.isNewExpression(node) || ts.isCallExpression(node) ? node.expression.getText() : '';
    const args = (node as ts.NewExpression).arguments;
    const sentence = args?.[complaints.get(called) ?? -1];
    if (sentence) alone(sentence);
    if (called === 'told' && args?.length === 2 && args.every(isText))
      if (isSaid(args[0].getText()) && !isChinese(args[1].getText())) note(args[1]);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return wrong;
}

/** A command and those below it. */
const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];

describe('what is said in Chinese', () => {
  it('is every sentence about input that cannot be used, and every one of the live guard', () => {
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
    );
    expect(files.flatMap((path) => found(join(src, path)))).toEqual([]);
  });

  describe('of the command line', () => {
    beforeEach(() => speak('zh'));
    afterEach(() => {
      speak('en');
      vi.restoreAllMocks();
    });

    it('is the help of every command, argument and option, and nothing that no command says', async () => {
      speak('en');
      const commands = all(await program(undefined));
      const texts = commands.flatMap((command) => [
        command.description(),
        ...command.registeredArguments.map(({ description }) => description),
        ...command.options.flatMap(({ description, defaultValueDescription: usual }) => [description, usual ?? '']),
      ]);
      const own = (text: string) => text === '' || text.startsWith('the language of sentences');
      expect(texts.filter((text) => !own(text) && !isChinese(chineseHelp[text] ?? ''))).toEqual([]);
      const source = readdirSync(join(src, 'cli'), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts') && !path.endsWith('chinese.ts'))
        .map((path) => readFileSync(join(src, 'cli', path), 'utf8'))
        .join('');
      const heads = ['Arguments:', 'Options:', 'Commands:'];
      const unused = Object.keys(chineseHelp).filter(
        (text) => !texts.includes(text) && !heads.includes(text) && !source.includes(text),
      );
      expect(unused).toEqual([]);
    });

    it('is what a reader sees: every command has an example, and no line of help is English but those that are typed', async () => {
      for (const command of all(await program(undefined))) {
        let shown = '';
        vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
          shown += text;
          return true;
        });
        command.outputHelp();
        vi.restoreAllMocks();
        const lines = shown.split('\n').filter((line) => !/^ {2}\$ |^ {2}\{/.test(line));
        expect(
          lines.filter((line) => isSaid(line) && !isChinese(line)),
          command.name(),
        ).toEqual([]);
        expect(lines[0]).toMatch(/^用法：/);
        if (command.parent && !command.parent.parent) expect(shown, command.name()).toMatch(/^ {2}\$ trueline /m);
      }
    });

    it.each([
      [['check'], '缺少参数 path'],
      [['check', 'x', '--jsn'], '没有选项 --jsn\n（是否想写 --json？）'],
      [['chekc'], '没有命令 chekc\n（是否想写 check？）'],
      [['play', 'echo', '--seed', 'x'], '选项 --seed <n> 的值 x 无效。应给出整数。'],
      [['validate', 'a', 'b'], '参数过多：应有 1 个，收到 2 个。'],
      [['train', 'echo', '--guard', 'no'], '选项 --guard <mode> 的值 no 无效。可选 off, warn, strict。'],
      [['train', '--seed'], '选项 --seed <n> 缺少值'],
    ])('is what it complains of: trueline %j', async (args, said) => {
      let shown = '';
      vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
        shown += text;
        return true;
      });
      await expect((await program(args[0])).parseAsync(args, { from: 'user' })).rejects.toThrow();
      expect(shown).toContain(`错误：${said}`);
    });
  });
});
