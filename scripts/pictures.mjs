/**
 * Makes the pictures of README and docs/ from the very commands that their pages show: `node scripts/pictures.mjs studio report` makes those whose
 * path holds one of the words, without words all of them, which trains for an hour. test/house/pictures.test.ts refuses a picture that is not in this
 * table, and a command that its page does not show.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureBuilt, root } from './setup.mjs';

const studio = {
  page: 'docs/studio.md',
  commands: [
    'trueline demo --out runs/demo',
    'trueline train stag-hunt --steps 60000 --out runs/hunt-1',
    'trueline train stag-hunt --steps 60000 --seed 2 --set ppo.learningRate=0.0001 --out runs/hunt-2',
    'trueline symmetry stag-hunt --quick --fault seat-paid-more --out runs/unfair',
  ],
};
const view = (name, hash, ready, more = {}) => ({ file: `docs/studio/${name}.jpg`, ...studio, hash, ready, ...more });
const readings = (file, page, command) => ({
  file: `docs/pictures/${file}-readings.svg`,
  page,
  commands: [command],
  makes: (out) => [`${command.replace('trueline train', 'train')} --out run`, `inspect run --svg ${out}`],
});
const inTrain = { click: 'button.primary', settle: 20_000 };

/** `makes` are commands that write the file itself; otherwise a page is photographed: one that the commands wrote, or a view of the studio. */
export const pictures = [
  view('runs-1280-light', '#/runs?runs=demo/faulty|demo/healthy', '[data-testid=headline].faulty'),
  view('table-1280-light', '#/runs?table=1', '[data-testid=run-table] [data-verdict=faulty]'),
  view('diagnosis-1280-light', '#/runs?runs=demo/faulty&whole=1', '.checks'),
  view('drop-390-dark', '#/runs?runs=demo/faulty&whole=1', '.checks', { width: 390, theme: 'dark' }),
  view('train-1280-light', '#/train?game=stag-hunt', '.verdict', inTrain),
  view('replay-1280-light', '#/replay?run=hunt-1&sort=best&step=4', 'canvas[data-step="4"]'),
  view('beside-1280-dark', '#/replay?run=hunt-1&step=4', 'canvas[data-step="4"] >> nth=1', {
    theme: 'dark',
    click: 'li:nth-child(1) [type=checkbox], li:nth-child(2) [type=checkbox]',
  }),
  view('compare-1280-light', '#/compare?runs=hunt-1|hunt-2', '[data-testid=summary]'),
  view('symmetry-1280-light', '#/symmetry?of=unfair', '#stage-random-play .chart svg'),
  {
    file: 'docs/pictures/report.png',
    page: 'README.md',
    commands: [
      'bin/trueline train echo --seed 2 --steps 40000 --set gameSettings.seats=2 --fault advantage-late --out runs/broken',
      'bin/trueline diagnose runs/broken --html runs/report.html || true',
    ],
    html: 'runs/report.html',
  },
  {
    file: 'docs/pictures/symmetry.png',
    page: 'docs/symmetry.md',
    commands: ['trueline symmetry stag-hunt --html symmetry.html'],
    html: 'symmetry.html',
  },
  {
    file: 'docs/pictures/stag-hunt.svg',
    page: 'docs/games.md',
    commands: ['trueline train stag-hunt --steps 600000 --set worlds=64'],
    makes: (out) => [
      'train stag-hunt --steps 600000 --set worlds=64 --out run',
      `play stag-hunt --policy run --episodes 1 --svg ${out}`,
    ],
  },
  readings('stag-hunt', 'docs/games.md', 'trueline train stag-hunt --steps 600000 --set worlds=64'),
  readings('city', 'docs/games.md', 'trueline train city'),
  readings('hop', 'docs/hop.md', 'trueline train stag-hunt --algorithm hop --without none --steps 1200000'),
];

async function main(words) {
  ensureBuilt();
  const wanted = pictures.filter(({ file }) => words.length === 0 || words.some((word) => file.includes(word)));
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  const folders = new Map();
  try {
    for (const picture of wanted) {
      const key = JSON.stringify(picture.makes ? picture.file : picture.commands);
      if (!folders.has(key)) folders.set(key, prepare(picture));
      console.log(picture.file);
      if (!picture.makes) await photograph(browser, picture, folders.get(key));
    }
  } finally {
    await browser.close();
    for (const folder of folders.values()) rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a picture's commands in a folder of their own. */
function prepare({ file, commands, makes }) {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-pictures-'));
  mkdirSync(join(folder, 'runs'));
  const program = `"${process.execPath}" "${join(root, 'bin/trueline')}"`;
  const lines = makes
    ? makes(join(root, file)).map((rest) => `${program} ${rest}`)
    : commands.map((line) => line.replace(/^(bin\/)?trueline/, program));
  for (const line of lines) {
    const { status } = spawnSync('bash', ['-c', line], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    // A named cause is what some are run for.
    if (status !== 0 && status !== 1) throw new Error(`${line} ended with status ${status}`);
  }
  return folder;
}

async function photograph(browser, picture, folder) {
  const { file, html, hash = '', ready = 'body', width = 1280, theme = 'light', click, settle = 1500 } = picture;
  const page = await browser.newPage({ viewport: { width, height: width < 500 ? 844 : 900 } });
  page.setDefaultTimeout(600_000);
  const server = html ? undefined : await serve(join(folder, 'runs'));
  try {
    if (server) await page.addInitScript((chosen) => Object.assign(localStorage, chosen), { theme, language: 'en' });
    await page.goto(server ? `${server.address}${hash}` : pathToFileURL(join(folder, html)).href);
    if (!click) await page.waitForSelector(ready);
    else for (const one of click.split(', ')) await page.locator(one).first().click();
    if (click) await page.waitForSelector(ready);
    await page.waitForTimeout(settle);
    const path = join(root, file);
    await page.screenshot(file.endsWith('.jpg') ? { path, type: 'jpeg', quality: 75 } : { path });
  } finally {
    await page.close();
    server?.stop();
  }
}

/** The studio on a folder, as its command serves it. */
function serve(folder) {
  const child = spawn(process.execPath, [join(root, 'bin/trueline'), 'studio', folder, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((done, failed) => {
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
      const [address] = /http:\S+/.exec(said) ?? [];
      if (address) done({ address, stop: () => child.kill('SIGINT') });
    });
    child.once('exit', (status) => failed(new Error(`the studio ended with status ${status}`)));
  });
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
