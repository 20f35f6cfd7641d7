import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localeLanguage } from '../src/language/language.ts';
import { temporaryFolder, trueline } from './support/run.ts';

const folder = temporaryFolder();
const chinese = ['--language', 'zh'];

/** Text that a reader sees, without what is called the same in every language: commands, options, paths, code, names of columns, settings and causes. */
function seen(text: string): string {
  return text
    .replace(/<style>[\s\S]*?<\/style>|<svg[\s\S]*?<\/svg>|<pre[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>|<[^>]+>/g, '\n')
    .replace(/```[\s\S]*?```|^ {5}.*$/gm, '')
    .replace(/trueline [^\n。，]*/g, '')
    .replace(/&[a-z#0-9]+;/g, ' ');
}

/** Four English words in a row are a sentence, or a part of one. */
function englishSentences(text: string): string[] {
  return seen(text).match(/(?<![\w./-])[A-Za-z][a-z']+(?: [a-z][a-z']+){3,}/g) ?? [];
}

function tells(text: string): void {
  expect(englishSentences(text)).toEqual([]);
  expect(text).toMatch(/\p{Script=Han}/u);
}

/** As it is asked for, with whatever status. */
const said = (...args: string[]) => trueline(...args, ...chinese).stdout;

describe('the language', () => {
  it('is that of the locale unless it is asked for, by the first variable that is set', () => {
    expect(localeLanguage({ LANG: 'zh_CN.UTF-8' })).toBe('zh');
    expect(localeLanguage({ LC_ALL: 'C', LANG: 'zh_CN.UTF-8' })).toBe('en');
    expect(localeLanguage({ LC_ALL: '', LC_MESSAGES: 'zh_TW', LANG: 'de_DE' })).toBe('zh');
    expect(localeLanguage({})).toBe('en');
  });

  it('is refused where nobody speaks it, in one sentence', () => {
    const { status, stderr } = trueline('check', 'examples/echo', '--language', 'fr');
    expect(status).toBe(2);
    expect(stderr).toMatch(/en, zh/);
  });
});

describe('no sentence is English where Chinese is asked for', () => {
  const run = join(folder, 'run');
  const small = ['--set', 'worlds=8', '--set', 'rollout=16', '--set', 'gameSettings.seats=2'];
  const train = (out: string, ...more: string[]) =>
    said('train', 'echo', '--seed', '1', '--steps', '2000', '--out', out, ...small, ...more);

  it('in train', () => {
    tells(train(run, '--set', 'probes=[{"probe":"advantage-scale","value":2,"updates":2}]'));
  });

  it('in what the live guard says of a fault, in a warning and where it stops', () => {
    const live = (out: string, ...more: string[]) =>
      trueline('train', 'echo', '--seed', '1', '--out', join(folder, out), ...chinese, ...more).stderr;
    const larger = ['--steps', '6000', '--set', 'worlds=64', '--set', 'rollout=32'];
    const warned = live('warned', ...larger, '--fault', 'advantage-late', '--guard', 'warn');
    expect(warned).toMatch(/advantage-time-shifted：.*应改动：/);
    tells(warned);
    const stopped = live('stopped', ...small, '--fault', 'temperature-in-update', '--guard', 'strict');
    expect(stopped).toMatch(/守卫（replay-differs）：samples 第 \d+ 行（迭代 0，/);
    tells(stopped);
  });

  it('in diagnose, its page, check, inspect and explain, of a fault', () => {
    const broken = join(folder, 'broken');
    const page = join(folder, 'broken.html');
    train(broken, '--fault', 'advantage-late', '--steps', '6000');
    tells(said('diagnose', broken, '--html', page));
    tells(readFileSync(page, 'utf8'));
    tells(said('check', broken));
    tells(said('check', broken, '--markdown'));
    tells(said('inspect', broken));
    tells(said('inspect', broken, '--first', '--tensors'));
    tells(said('explain', 'advantage-time-shifted'));
    tells(said('explain'));
  });

  it('in diagnose of a log, with symptoms, notes and what is not understood', () => {
    const log = join(folder, 'progress.csv');
    const page = join(folder, 'log.html');
    const rows = Array.from({ length: 30 }, (_, i) => `${i},0,${3 * 2 ** i},1.6094,6.5,2,${5 - i / 30},7`);
    writeFileSync(log, `step,approx_kl,value_loss,entropy,adv_mean,adv_std,return,wibble\n${rows.join('\n')}\n`);
    tells(said('diagnose', log, '--html', page));
    tells(readFileSync(page, 'utf8'));
    tells(said('check', log));
  });

  it('in symmetry and compare', () => {
    const other = join(folder, 'other');
    train(other, '--set', 'seed=2');
    const [page, compared] = [join(folder, 'symmetry.html'), join(folder, 'compared.html')];
    tells(said('symmetry', run, other, '--html', page));
    tells(readFileSync(page, 'utf8'));
    tells(said('compare', run, other, '--html', compared));
    tells(readFileSync(compared, 'utf8'));
  });
});
