/**
 * What the studio was asked to start: trainings and investigations, each a process of its own, so that a long one neither slows the page nor ends with the
 * studio. What is told of it lies in files, and the next studio finds it there.
 * What a request says reaches that process in a file, or as `--option=value` after it was checked: never as a word that could be taken for an option.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { findFault } from '../../faults/index.ts';
import { gameMaker } from '../../games/index.ts';
import { languages } from '../../language/language.ts';
import { isAlive, writeWhole } from '../../recording/disk/node.ts';
import { refuseProto } from '../../recording/files/json.ts';
import { readSettings, type SettingsInput } from '../../training/settings.ts';
import { requireGame } from '../common/settings.ts';

const jobSchema = z.object({
  id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i),
  kind: z.enum(['training', 'investigation']),
  state: z.enum(['running', 'done', 'stopped', 'failed']),
  /** What the program said last, where it failed. */
  message: z.string().optional(),
});

export type Job = z.output<typeof jobSchema>;

/** What is written of a job: a studio that starts later finds the process by it. */
const recordSchema = z.object({ format: z.literal('trueline/studio-job/1'), job: jobSchema, process: z.int().min(1) });

/** Beside the runs, hidden, and never served: a record of each job, its settings, and what it said. */
const place = '.studio';
/** Milliseconds between two looks at whether those that run have ended. */
const look = 500;

/** Becomes the name of a folder. */
const name = jobSchema.shape.id;
const nameRule = 'a name of letters, digits, dots and dashes';
const fault = z.string().max(100).optional();

const trainingRequest = z.object({ name, settings: z.record(z.string(), z.unknown()), fault });
const investigationRequest = z.object({
  name,
  game: z.string(),
  fault,
  algorithm: z.enum(['ppo', 'mappo', 'hop']).optional(),
  seeds: z.int().min(2).max(1000).optional(),
  steps: z.int().min(1000).optional(),
  quick: z.boolean().optional(),
  all: z.boolean().optional(),
  language: z.enum(languages).optional(),
});

const most = 2;

export class Jobs {
  private readonly all = new Map<string, { process: number; job: Job }>();
  private readonly listeners = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly folder: string,
    private readonly program: string,
  ) {}

  /** Those of a folder, with what an earlier studio started there. */
  static async open(folder: string, program: string): Promise<Jobs> {
    await mkdir(folder, { recursive: true });
    const jobs = new Jobs(await realpath(folder), program);
    await jobs.find();
    return jobs;
  }

  list(): Job[] {
    return [...this.all.values()].map(({ job }) => job);
  }

  /** Looks no more; what runs goes on. */
  close(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async train(body: unknown): Promise<Job | { error: string }> {
    const asked = trainingRequest.safeParse(body);
    if (!asked.success) return { error: `A training needs ${nameRule}, and settings as an object.` };
    const { name, settings, fault } = asked.data;
    let game: string;
    try {
      refuseProto(body);
      this.requireRoom(name);
      const whole = readSettings(settings as SettingsInput);
      requireGame(whole);
      game = whole.game;
      if (fault !== undefined) findFault(fault);
      await writeJson(this.file(name, 'settings.json'), { ...settings, game });
    } catch (error) {
      return { error: (error as Error).message };
    }
    const args = ['train', '--json', '--clock', `--config=${this.file(name, 'settings.json')}`];
    if (fault !== undefined) args.push(`--fault=${fault}`);
    return this.launch('training', name, args, []);
  }

  async investigate(body: unknown): Promise<Job | { error: string }> {
    const asked = investigationRequest.safeParse(body);
    if (!asked.success)
      return { error: `An investigation needs ${nameRule}, a game, 2 seeds or more and 1000 steps or more.` };
    const { name, game, fault, algorithm, seeds, steps, quick, all, language } = asked.data;
    try {
      this.requireRoom(name);
      gameMaker(game, {});
      if (fault !== undefined) findFault(fault);
    } catch (error) {
      return { error: (error as Error).message };
    }
    const args = ['symmetry', '--json'];
    for (const [option, value] of Object.entries({ fault, algorithm, seeds, steps, language }))
      if (value !== undefined) args.push(`--${option}=${value}`);
    if (quick) args.push('--quick');
    if (all) args.push('--all');
    return this.launch('investigation', name, args, [game]);
  }

  /** As Ctrl-C would: the iteration is finished and saved. */
  async stop(id: string): Promise<boolean> {
    const found = this.all.get(id);
    // A number may be another process's by now.
    if (found?.job.state !== 'running' || !this.isOurs(id, found.process)) return false;
    found.job.state = 'stopped';
    process.kill(found.process, 'SIGINT');
    await this.keep(id);
    this.tell();
    return true;
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  private requireRoom(name: string): void {
    if (existsSync(join(this.folder, name)))
      throw new Error(`There is already something called ${name}; choose another name.`);
    if (this.list().filter(({ state }) => state === 'running').length >= most)
      throw new Error('Two are running already; wait for one of them or stop it.');
  }

  private async launch(
    kind: Job['kind'],
    name: string,
    options: string[],
    words: string[],
  ): Promise<Job | { error: string }> {
    const args = [...options, ...this.outOf(name), ...words];
    const files: number[] = [];
    try {
      await mkdir(join(this.folder, place), { recursive: true });
      for (const kind of ['out', 'err']) files.push(openSync(this.file(name, kind), 'w'));
    } catch (error) {
      return { error: (error as Error).message };
    }
    // In a session of its own, and with files in place of pipes: neither Ctrl-C nor the end of the studio or its terminal reaches it.
    const child = spawn(process.execPath, [this.program, ...args], { detached: true, stdio: ['ignore', ...files] });
    child.on('error', () => undefined);
    child.unref();
    for (const file of files) closeSync(file);
    const job: Job = { id: name, kind, state: child.pid === undefined ? 'failed' : 'running' };
    this.all.set(name, { process: child.pid ?? 0, job });
    await this.keep(name);
    this.watch();
    this.tell();
    return job;
  }

  /** What an earlier studio started and left: what still runs, and what ended meanwhile. What ended before its eyes is forgotten. */
  private async find(): Promise<void> {
    for (const file of await readdir(join(this.folder, place)).catch(() => [] as string[])) {
      if (!file.endsWith('.job.json')) continue;
      const text = await readFile(join(this.folder, place, file), 'utf8').catch(() => 'null');
      const record = recordSchema.safeParse(parsed(text)).data;
      if (!record || file !== `${record.job.id}.job.json`) continue;
      const { job, process } = record;
      if (job.state === 'running') this.all.set(job.id, { process, job });
      else
        for (const kind of ['job.json', 'settings.json', 'out', 'err'])
          await rm(this.file(job.id, kind), { force: true });
    }
    await this.lookAgain();
    this.watch();
  }

  private watch(): void {
    if (this.timer || !this.list().some(({ state }) => state === 'running')) return;
    this.timer = setInterval(() => void this.lookAgain(), look);
    this.timer.unref();
  }

  private async lookAgain(): Promise<void> {
    for (const [id, { job, process }] of this.all) {
      if (job.state !== 'running' || this.isOurs(id, process)) continue;
      Object.assign(job, await this.outcome(id));
      await this.keep(id);
      this.tell();
    }
    if (!this.list().some(({ state }) => state === 'running')) this.close();
  }

  /** How a program ended, by what it said: its results as JSON, that it was stopped, or what went wrong. */
  private async outcome(id: string): Promise<Pick<Job, 'state' | 'message'>> {
    const read = (kind: string) => readFile(this.file(id, kind), 'utf8').catch(() => '');
    const text = await read('out');
    const results = parsed(text);
    if (typeof results === 'object' && results !== null)
      return { state: 'stopped' in results && results.stopped === true ? 'stopped' : 'done' };
    if (text !== '') return { state: 'stopped' };
    const said = (await read('err')).trim().split('\n').at(-1);
    return { state: 'failed', message: said || 'It was killed; `trueline train --resume` goes on with what it saved.' };
  }

  private async keep(id: string): Promise<void> {
    const found = this.all.get(id);
    // On a full disk the job still runs, and this studio knows of it.
    if (found)
      await writeJson(this.file(id, 'job.json'), { format: 'trueline/studio-job/1', ...found }).catch(() => undefined);
  }

  private file(id: string, kind: string): string {
    return join(this.folder, place, `${id}.${kind}`);
  }

  /** The words by which the process of a job is known. */
  private outOf(id: string): string[] {
    return [`--out=${join(this.folder, id)}`, '--'];
  }

  /** Whether a process is the one that was started for the job: numbers are used again, and a record that a stranger wrote may name any. */
  private isOurs(id: string, process: number): boolean {
    return commandLine(process).includes(this.outOf(id).join(' '));
  }
}

/** What a process was started with; empty where it is gone. */
function commandLine(process: number): string {
  if (!isAlive(process)) return '';
  try {
    return readFileSync(`/proc/${process}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(process)], { encoding: 'utf8' }).stdout ?? '';
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function writeJson(file: string, data: unknown): Promise<void> {
  return writeWhole(file, [new TextEncoder().encode(JSON.stringify(data))]);
}
