/** PyTorch in processes of its own, one for each setting that only a new process can have, and the search for the fastest settings of each task. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { python } from '../support.ts';
import { narrow, observation, type Sizes, wide } from './sizes.ts';

const program = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'bench', 'torch', 'serve.py');

/** What a process is started with. */
export interface ProcessSettings {
  name: string;
  threads: 1 | 2;
  env: Record<string, string>;
}

export type Request = Record<string, unknown> & { task: string };

/** A setting of a task that was tried. */
export interface Tried {
  process: ProcessSettings;
  request: Request;
  way: Way;
  seconds: number;
}

const patient = {
  // Freed memory is kept: giving it back to the system costs a page fault for each page of the next tensor.
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '2000000000',
  MALLOC_MMAP_THRESHOLD_: '2000000000',
};

/** Folders of OpenBLAS by kind of thread, where Debian puts them; the system's own choice is where neither is there. */
function blasFolders(): Record<string, string> {
  const found: Record<string, string> = {};
  for (const triplet of readdirSync('/usr/lib')) {
    for (const kind of ['pthread', 'openmp']) {
      const folder = join('/usr/lib', triplet, `openblas-${kind}`);
      if (existsSync(folder)) found[kind] = folder;
    }
  }
  return found;
}

/**
 * Kernels of OpenBLAS. One that is older than the processor does not know it and takes those of 2004, four times slower than the ones that
 * the processor could run; nobody who minds speed leaves it at that, and PyTorch would be a straw man.
 */
const kernels = process.arch === 'x64' ? ['', 'Haswell', 'Zen', 'SkylakeX'] : [''];

/** The setting of the kernels with the fastest product; those that the processor cannot run end their process, and do not count. */
async function fastestKernels(repeat: number): Promise<Record<string, string>> {
  let best: Record<string, string> = {};
  let least = Number.POSITIVE_INFINITY;
  for (const kernel of kernels) {
    const env: Record<string, string> = kernel ? { OPENBLAS_CORETYPE: kernel } : {};
    const torch = new TorchProcess({ name: kernel, threads: 2, env });
    const seconds = await torch.seconds({ task: 'peak', repeat }).catch(() => Number.POSITIVE_INFINITY);
    torch.end();
    // What OpenBLAS chooses by itself stays, unless another is clearly faster.
    if (seconds < 0.95 * least) [best, least] = [env, seconds];
  }
  return best;
}

/** All that are worth trying, the likeliest first. */
function processSettings(kernels: Record<string, string>): ProcessSettings[] {
  const folders = blasFolders();
  const make = (kind: 'pthread' | 'openmp', threads: 1 | 2, blas: 1 | 2, malloc: boolean): ProcessSettings => ({
    name: [
      `${kind} BLAS on ${blas}`,
      ...Object.values(kernels),
      `torch on ${threads}${malloc ? ', malloc tuned' : ''}`,
    ].join(', '),
    threads,
    env: {
      ...kernels,
      ...(folders[kind] ? { LD_LIBRARY_PATH: folders[kind] } : {}),
      OMP_NUM_THREADS: String(kind === 'openmp' ? Math.max(threads, blas) : threads),
      OPENBLAS_NUM_THREADS: String(blas),
      ...(malloc ? patient : {}),
    },
  });
  return [
    make('pthread', 2, 2, true),
    make('pthread', 1, 1, true),
    make('pthread', 2, 1, true),
    make('pthread', 1, 2, true),
    ...(folders.openmp ? [make('openmp', 2, 2, true), make('openmp', 1, 1, true)] : []),
    make('pthread', 2, 2, false),
    make('pthread', 1, 1, false),
  ];
}

let torchPython: string | null = null;

class TorchProcess {
  private readonly child: ChildProcess;
  private readonly lines: Interface;
  private readonly waiting: ((line: string) => void)[] = [];
  private ended: Error | null = null;

  constructor(readonly settings: ProcessSettings) {
    torchPython ??= python('torch');
    this.child = spawn(torchPython, [program, String(settings.threads)], {
      env: { ...process.env, ...settings.env, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.lines = createInterface({ input: this.child.stdout! });
    this.lines.on('line', (line) => this.waiting.shift()?.(line));
    this.child.on('close', (status) => {
      this.ended = new Error(
        `the PyTorch process (${settings.name}) ended with status ${status}; its own message is above`,
      );
      for (const answer of this.waiting.splice(0)) answer('');
    });
  }

  async answer(request: Request): Promise<unknown> {
    if (this.ended) throw this.ended;
    const line = await new Promise<string>((resolve) => {
      this.waiting.push(resolve);
      this.child.stdin!.write(`${JSON.stringify(request)}\n`);
    });
    if (this.ended) throw this.ended;
    return JSON.parse(line);
  }

  async seconds(request: Request): Promise<number> {
    return (await this.answer(request)) as number;
  }

  end(): void {
    this.child.stdin!.end();
    this.child.kill();
  }
}

/** Processes by their settings. They wait for requests without computing, so several may be alive at once. */
export class TorchPool {
  private readonly alive = new Map<string, TorchProcess>();

  get(settings: ProcessSettings): TorchProcess {
    const found = this.alive.get(settings.name) ?? new TorchProcess(settings);
    this.alive.set(settings.name, found);
    return found;
  }

  /** Ends all but those in use. */
  keep(names: ReadonlySet<string>): void {
    for (const [name, torch] of this.alive) {
      if (names.has(name)) continue;
      torch.end();
      this.alive.delete(name);
    }
  }
}

/** The tasks that are compared; each lists what the process is asked, in one or several ways. */
export const taskNames = [
  'wide update',
  'narrow update',
  'straw update',
  'forward',
  'wide loop',
  'narrow loop',
] as const;
export type TaskName = (typeof taskNames)[number];

/**
 * `plain` is one program for both networks, as PPO is written in PyTorch. `split` runs the two networks on two Python threads, which torch
 * lets compute at once; few write it so, but it is shown beside the other.
 */
export type Way = 'plain' | 'split';

/** How many settings of a task run again beside ours, because the search took each of them at another moment. */
export const finalists = 2;

const adams = ['flat', 'single', 'foreach'];
const graphs: Record<Way, string[]> = { plain: ['eager', 'script'], split: ['split', 'split-script'] };
const samples = ['cdf', 'race', 'multinomial'];

export class Search {
  readonly tried = new Map<TaskName, Tried[]>(taskNames.map((name) => [name, []]));
  /** The largest distance of a parameter from ours after the sample's steps, over all optimisers and graphs. */
  difference = 0;
  /** GFLOP/s of one sgemm of size 1024, the best over all settings. */
  peak = 0;

  constructor(
    private readonly pool: TorchPool,
    private readonly sizes: Sizes,
    private readonly sample: Record<string, unknown>,
    private readonly say: (line: string) => void,
  ) {}

  /** The fastest few of a task, the fastest first. */
  best(task: TaskName, way: Way, count: number): Tried[] {
    const own = this.tried.get(task)!.filter((tried) => tried.way === way);
    return own.sort((a, b) => a.seconds - b.seconds).slice(0, count);
  }

  /** Those that run again: the best plain settings, and the best split one where there is one. */
  finalists(task: TaskName): Tried[] {
    return [...this.best(task, 'plain', finalists), ...this.best(task, 'split', 1)];
  }

  async run(): Promise<void> {
    let hasOpenBlas = false;
    const kernels = this.sizes.full ? await fastestKernels(20) : {};
    for (const settings of processSettings(kernels).slice(0, this.sizes.settings)) {
      const torch = this.pool.get(settings);
      const { blas } = (await torch.answer({ task: 'about' })) as { blas: string[] };
      hasOpenBlas ||= blas.some((file) => file.includes('openblas'));
      await this.try(torch);
      const [first] = this.best('wide update', 'plain', 1);
      this.say(`  ${settings.name}: the best update so far takes ${(first.seconds * 1000).toFixed(1)} ms`);
      const running = taskNames.flatMap((task) => this.finalists(task));
      this.pool.keep(new Set(running.map((tried) => tried.process.name)));
    }
    if (!hasOpenBlas && this.sizes.full)
      throw new Error(
        'PyTorch runs on the reference BLAS, some forty times slower than OpenBLAS, and would be a straw man; apt-get install libopenblas0-pthread',
      );
  }

  private async try(torch: TorchProcess): Promise<void> {
    const { sizes } = this;
    const repeat = sizes.full ? 20 : 2;
    const gemm = await torch.seconds({ task: 'peak', repeat });
    this.peak = Math.max(this.peak, (2 * 1024 ** 3) / gemm / 1e9);
    if (this.difference === 0) await this.compareArithmetic(torch);
    const forward = { task: 'forward', inputs: observation, hidden: wide, rows: 4, repeat: sizes.full ? 400 : 10 };
    for (const script of [true, false])
      for (const sample of samples) await this.time(torch, 'forward', { ...forward, script, sample });
    await this.updateAndLoop(torch, wide, sizes.wideRows, 2);
    await this.updateAndLoop(torch, narrow, sizes.narrowRows, sizes.full ? 10 : 2);
  }

  private async compareArithmetic(torch: TorchProcess): Promise<void> {
    for (const adam of adams)
      for (const graph of Object.values(graphs).flat())
        this.difference = Math.max(
          this.difference,
          (await torch.answer({ ...this.sample, task: 'same', graph, adam })) as number,
        );
  }

  /** First the optimisers, then with the best of them the ways to run the graph, and the loop with the best update of each way. */
  private async updateAndLoop(torch: TorchProcess, hidden: number[], rows: number, repeat: number): Promise<void> {
    const { sizes } = this;
    const width = hidden === wide ? 'wide' : 'narrow';
    const common = { task: 'update', inputs: observation, hidden, rows, repeat };
    let adam = adams[0];
    let least = Number.POSITIVE_INFINITY;
    for (const one of adams) {
      const seconds = await this.time(torch, `${width} update`, { ...common, graph: 'eager', adam: one });
      if (seconds < least) adam = one;
      least = Math.min(least, seconds);
    }
    for (const way of ['plain', 'split'] as const) {
      let graph = graphs[way][0];
      let best = way === 'plain' ? least : Number.POSITIVE_INFINITY;
      for (const one of graphs[way].slice(way === 'plain' ? 1 : 0)) {
        const seconds = await this.time(torch, `${width} update`, { ...common, graph: one, adam });
        if (seconds < best) graph = one;
        best = Math.min(best, seconds);
      }
      const loop = { task: 'loop', inputs: observation, hidden, graph, adam, ...sizes.loop, script: true };
      for (const sample of way === 'plain' ? ['cdf', 'race'] : ['race'])
        await this.time(torch, `${width} loop`, { ...loop, sample }, 1);
      if (width === 'wide' && way === 'plain')
        await this.time(torch, 'straw update', { ...common, graph, adam, rows: sizes.strawRows });
    }
  }

  /** The least of three after a warm-up; a setting that is hopeless at once is not tried again. */
  private async time(torch: TorchProcess, task: TaskName, request: Request, times = 3): Promise<number> {
    const all = this.tried.get(task)!;
    const known = Math.min(...all.map((tried) => tried.seconds));
    let seconds = await torch.seconds(request);
    for (let i = 0; i < times && seconds < 3 * known; i++) seconds = Math.min(seconds, await torch.seconds(request));
    const way = String(request.graph).startsWith('split') ? 'split' : 'plain';
    all.push({ process: torch.settings, request, way, seconds });
    return seconds;
  }
}

/** In words, for a figure's note. */
export function settingName({ process, request }: Tried): string {
  const { graph, adam, sample, script } = request;
  const ways = [graph, adam && `${adam} Adam`, script && 'script', sample].filter(Boolean).join(', ');
  return `${process.name}; ${ways}`;
}
