/** Runs a program on real disks that fill up, each a page larger than the one before, until everything fits. Only root can make them; elsewhere a full disk is injected alone. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { bits, differences, endedWrongly, run, type Struck, type Target } from './strikes.ts';

const page = 4096;

function mount(folder: string, bytes: number, more: string[] = []): boolean {
  const options = [`size=${bytes}`, ...more].join(',');
  return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'trueline', folder]).status === 0;
}

const unmount = (folder: string) => spawnSync('umount', [folder]);

/** Whether this process may make disks. */
function mayMount(scratch: string): boolean {
  const probe = join(scratch, 'probe');
  mkdirSync(probe, { recursive: true });
  const may = mount(probe, page);
  if (may) unmount(probe);
  return may;
}

/** Pages that a folder with the finished work takes. */
function pagesOf(folder: string): number {
  const used = spawnSync('du', ['-s', '--block-size=4096', folder], { encoding: 'utf8' }).stdout;
  return Number.parseInt(used, 10);
}

export async function onSmallDisks(
  target: Target,
  make: (name: string, before?: (folder: string) => void) => Promise<string>,
  wanted: Record<string, string>,
  scratch: string,
  most: number,
  say: (line: string) => void,
): Promise<Struck> {
  if (!mayMount(scratch)) {
    say(`${target.name}: no disks can be mounted here, so a full one is injected alone`);
    return { strikes: 0, broken: [] };
  }
  const roomy = 2 ** 30;
  const [first, last] = [pagesOf(await make('before')), pagesOf(join(scratch, `${target.name}-whole`)) + 8];
  const sizes = Array.from({ length: last - first }, (_, i) => first + i);
  const every = Math.max(1, sizes.length / most);
  const chosen = sizes.filter((_, i) => Math.floor(i / every) !== Math.floor((i - 1) / every));
  say(`${target.name}: ${chosen.length} disks of ${first} to ${last} pages ...`);
  const broken: string[] = [];
  let full = 0;
  for (const pages of chosen) {
    const complain = (what: string) => {
      broken.push(`${target.name}, disk of ${pages} pages: ${what}`);
      say(broken[broken.length - 1]);
    };
    let folder = '';
    try {
      await make(`disk-${pages}`, (made) => {
        folder = made;
        mount(made, roomy);
      });
      mount(folder, pages * page, ['remount']);
      const end = await run(target, folder);
      if (end.status !== 0) full++;
      const wrong = endedWrongly(end, folder);
      if (wrong) complain(wrong);
      mount(folder, roomy, ['remount']);
      await target.recover(folder);
      for (const difference of differences(bits(folder), wanted)) complain(difference);
    } catch (error) {
      complain((error as Error).message);
    } finally {
      if (folder) {
        unmount(folder);
        rmdirSync(folder);
      }
    }
  }
  if (full === 0) broken.push(`${target.name}: no disk was full`);
  return { strikes: chosen.length, broken };
}
