/** Help and complaints of the command line in Chinese: one table turns every text, so that commands are written in one language. Where English is spoken nothing is touched. */
import { type Command, Help } from 'commander';
import { spokenLanguage } from '../../language/language.ts';
import { chineseComplaints, chineseHelp } from './chinese.ts';

/** Chinese letters and marks are two columns wide. */
const wide = /[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]/u;
const widthOf = (text: string) => [...text].reduce((sum, letter) => sum + (wide.test(letter) ? 2 : 1), 0);

const inChinese = (text: string) => (Object.hasOwn(chineseHelp, text) ? chineseHelp[text] : text);

/** Translates a command in place; those below it are translated on their own. */
export function translate(command: Command): void {
  if (spokenLanguage() !== 'zh') return;
  command.description(inChinese(command.description()));
  command.helpOption('-h, --help', inChinese('display help for command'));
  if (command.commands.length > 0) command.helpCommand('help [command]', inChinese('display help for command'));
  for (const argument of command.registeredArguments) argument.description = inChinese(argument.description);
  for (const option of command.options) {
    option.description = inChinese(option.description);
    if (option.defaultValueDescription) option.defaultValueDescription = inChinese(option.defaultValueDescription);
  }
  const usual = new Help();
  command.configureHelp({
    displayWidth: widthOf,
    boxWrap: folded,
    styleTitle: head,
    optionDescription: (option) => inBrackets(usual.optionDescription(option)),
    argumentDescription: (argument) => inBrackets(usual.argumentDescription(argument)),
  });
  command.configureOutput({
    writeOut: (text) => process.stdout.write(text.split('\n').map(inChinese).join('\n')),
    outputError: (text, write) => write(complaint(text)),
  });
}

const head = (title: string) => (title === 'Usage:' ? '用法：' : inChinese(title));

export function complaint(text: string): string {
  return chineseComplaints.reduce((said, [pattern, chinese]) => said.replace(pattern, chinese), text);
}

/** What is taken where nothing is given, and what may be given. */
const inBrackets = (text: string) =>
  text
    .replace(/\(default: /, '(默认：')
    .replace(/\(choices: /, '(可选：')
    .replace(/, (choices|default): /, (_, which) => (which === 'choices' ? '；可选：' : '；默认：'));

/** Breaks between words and between Chinese letters, but never before a mark that closes. */
function folded(text: string, width: number): string {
  if (width < 20) return text;
  const lines: string[] = [];
  let line = '';
  for (const piece of text.match(/\s*(?:[\u2e80-\u9fff][，。；：、）]*|[^\s\u2e80-\u9fff]+)/gu) ?? []) {
    if (line !== '' && widthOf(line + piece) > width) {
      lines.push(line);
      line = piece.trimStart();
    } else line += piece;
  }
  return [...lines, line].join('\n');
}
