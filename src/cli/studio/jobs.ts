/**
 * What the studio was asked to start: trainings and investigations, each a process of its own, so that a long one neither slows the page nor dies with it.
 * What a request says reaches that process in a file, or as `--option=value` after it was checked: never as a word that could be taken for an option.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { findFault } from '../../faults/index.ts';
import { gameMaker } from '../../games/index.ts';
import { refuseProto } from '../../recording/files/json.ts';
import { readSettings, type SettingsInput } from '../../training/settings.ts';
import { requireGame } from '../common/settings.ts';

export interface Job {
  id: string;
  kind: 'training' | 'investigation';
  state: 'running' | 'done' | 'stopped' | 'failed';
  /** What the program said last, where it failed. */
  message?: string;
}

/** Becomes the name of a folder. */
const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i);
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
});

const most = 2;

export class Jobs {
  private readonly all = new Map<string, { process: ChildProcess; job: Job }>();
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly folder: string,
    private readonly program: string,
  ) {}

  list(): Job[] {
    return [...this.all.values()].map(({ job }) => job);
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
    } catch (error) {
      return { error: (error as Error).message };
    }
    await mkdir(this.folder, { recursive: true });
    const config = join(this.folder, `.${name}.settings.json`);
    await writeFile(config, JSON.stringify({ ...settings, game }));
    const args = ['train', '--clock', `--config=${config}`, ...(fault === undefined ? [] : [`--fault=${fault}`])];
    return this.launch('training', name, args, [], () => void rm(config, { force: true }));
  }

  async investigate(body: unknown): Promise<Job | { error: string }> {
    const asked = investigationRequest.safeParse(body);
    if (!asked.success)
      return { error: `An investigation needs ${nameRule}, a game, 2 seeds or more and 1000 steps or more.` };
    const { name, game, fault, algorithm, seeds, steps, quick, all } = asked.data;
    try {
      this.requireRoom(name);
      gameMaker(game, {});
      if (fault !== undefined) findFault(fault);
    } catch (error) {
      return { error: (error as Error).message };
    }
    const args = ['symmetry', '--json'];
    for (const [option, value] of Object.entries({ fault, algorithm, seeds, steps }))
      if (value !== undefined) args.push(`--${option}=${value}`);
    if (quick) args.push('--quick');
    if (all) args.push('--all');
    return this.launch('investigation', name, args, [game]);
  }

  /** As Ctrl-C would: the iteration is finished and saved. */
  stop(id: string): boolean {
    const found = this.all.get(id);
    if (found?.job.state !== 'running') return false;
    found.job.state = 'stopped';
    found.process.kill('SIGINT');
    this.tell();
    return true;
  }

  stopAll(): void {
    for (const id of this.all.keys()) this.stop(id);
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

  private launch(kind: Job['kind'], name: string, options: string[], words: string[], ended?: () => void): Job {
    const args = [...options, `--out=${join(this.folder, name)}`, '--', ...words];
    const process = spawn(globalThis.process.execPath, [this.program, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const job: Job = { id: name, kind, state: 'running' };
    this.all.set(name, { process, job });
    let said = '';
    process.stderr?.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-2000);
    });
    process.on('close', (code) => {
      ended?.();
      // An investigation ends with 1 where it found a cause, and with 3 where the evidence was not enough.
      const well = kind === 'training' ? code === 0 : code === 0 || code === 1 || code === 3;
      if (job.state === 'running') job.state = well ? 'done' : 'failed';
      if (job.state === 'failed') job.message = said.trim().split('\n').at(-1) ?? '';
      this.tell();
    });
    this.tell();
    return job;
  }
}
