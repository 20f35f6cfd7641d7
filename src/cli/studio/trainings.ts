/** Trainings that the studio was asked for: each is a `trueline train` of its own process, so that a long one neither slows the page nor dies with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { findFault } from '../../faults/index.ts';
import { readSettings, type SettingsInput } from '../../training/settings.ts';

export interface Training {
  id: string;
  state: 'running' | 'done' | 'stopped' | 'failed';
  /** What the program said last, where it failed. */
  message?: string;
}

const request = z.object({
  /** Becomes the name of the run's folder. */
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i),
  settings: z.record(z.string(), z.unknown()),
  fault: z.string().optional(),
});

export class Trainings {
  private readonly all = new Map<string, { process: ChildProcess; training: Training }>();

  constructor(
    private readonly folder: string,
    private readonly program: string,
  ) {}

  list(): Training[] {
    return [...this.all.values()].map(({ training }) => training);
  }

  async start(body: unknown): Promise<Training | { error: string }> {
    const asked = request.safeParse(body);
    if (!asked.success)
      return { error: 'A training needs a name of letters, digits, dots and dashes, and settings as an object.' };
    const { name, settings, fault } = asked.data;
    const folder = join(this.folder, name);
    if (existsSync(folder)) return { error: `There is already something called ${name}; choose another name.` };
    if (this.list().filter(({ state }) => state === 'running').length >= 2)
      return { error: 'Two trainings are running already; wait for one of them or stop it.' };
    let game: string;
    try {
      game = readSettings(settings as SettingsInput).game;
      if (fault !== undefined) findFault(fault);
    } catch (error) {
      return { error: (error as Error).message };
    }
    await mkdir(this.folder, { recursive: true });
    const config = join(this.folder, `.${name}.settings.json`);
    await writeFile(config, JSON.stringify(settings));
    const args = ['train', game, '--config', config, '--out', folder, '--clock', ...(fault ? ['--fault', fault] : [])];
    const process = spawn(globalThis.process.execPath, [this.program, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const training: Training = { id: name, state: 'running' };
    this.all.set(name, { process, training });
    let said = '';
    process.stderr?.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-2000);
    });
    process.on('close', (code) => {
      void rm(config, { force: true });
      if (training.state === 'running') training.state = code === 0 ? 'done' : 'failed';
      if (training.state === 'failed') training.message = said.trim().split('\n').at(-1) ?? '';
    });
    return training;
  }

  /** As Ctrl-C would: the iteration is finished and saved. */
  stop(id: string): boolean {
    const found = this.all.get(id);
    if (found?.training.state !== 'running') return false;
    found.training.state = 'stopped';
    found.process.kill('SIGINT');
    return true;
  }

  stopAll(): void {
    for (const id of this.all.keys()) this.stop(id);
  }
}
