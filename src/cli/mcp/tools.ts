/** What the tools answer: small first, detail on request. Every path is below one folder, whoever asks; what is not there, or is bad, comes back as one sentence. */

import { realpath } from 'node:fs/promises';
import { relative } from 'node:path';
import { causeById, causes } from '../../doctor/causes.ts';
import { faults } from '../../faults/index.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { openRecordingOrLog } from '../../recording/importers/node.ts';
import type { Recording } from '../../recording/recording.ts';
import { causePage } from '../../report/causes.ts';
import { diagnosisText } from '../../report/diagnosis.ts';
import { readingPanels } from '../../report/readings.ts';
import { harmless } from '../../report/safe-text.ts';
import { style } from '../../report/style.ts';
import { diagnosisData } from '../../report/verdict.ts';
import { compareRuns } from '../../sweep/compare.ts';
import { readRuns } from '../../sweep/node.ts';
import { look } from '../check/look.ts';
import type { CheckResult } from '../check/result.ts';
import { readProject } from '../common/project.ts';
import { examine } from '../diagnose.ts';
import type { Jobs } from '../studio/jobs.ts';
import { confine, listFolder } from '../studio/runs.ts';

/** Runs that one answer names; more are counted. */
const listed = 20;

export class Tools {
  constructor(
    private readonly folder: string,
    private readonly jobs: Jobs,
  ) {}

  /** The answer of `trueline check`: the worst runs first. */
  async check(path: string): Promise<CheckResult & { left_out: number }> {
    const place = await this.inside(path);
    const result = await look(place, await readProject(place, { ignore: [] }));
    const below = (name: string) => relative(this.folder, name) || '.';
    const runs = result.runs.map((run) => ({ ...run, name: below(run.name) }));
    return { ...result, path, runs: runs.slice(0, listed), left_out: Math.max(0, runs.length - listed) };
  }

  /** The whole report of one run, as text for a reader or as the data of `trueline/diagnosis/2`. */
  async diagnose(path: string, detail: 'text' | 'json'): Promise<string> {
    const place = await this.inside(path);
    const { recording } = await openRecordingOrLog(place);
    const project = await readProject(place, { ignore: [] });
    const { diagnosis, pictures } = await examine(recording, { only: [], json: detail === 'json' }, project);
    if (detail === 'json') return JSON.stringify(diagnosisData(diagnosis));
    return diagnosisText(diagnosis, style(false), { ...(pictures ? { pictures } : {}), width: 100 });
  }

  explain(id: string | undefined): string {
    if (id === undefined) return causes.map((cause) => `${cause.id}: ${cause.meaning}`).join('\n');
    const cause = causeById(id);
    if (!cause)
      throw new BadInput(
        told(
          `there is no cause ${JSON.stringify(id)}; ask without a cause for the list`,
          `没有原因 ${JSON.stringify(id)}；不带原因询问可得到列表`,
        ),
      );
    return causePage(
      cause,
      faults.filter((fault) => fault.cause === id),
    );
  }

  async runs(): Promise<object> {
    const { runs } = await listFolder(this.folder);
    const newest = [...runs].sort((a, b) => b.modified - a.modified);
    return harmless({
      runs: newest.slice(0, listed).map(({ id, manifest, modified }) => ({
        path: id,
        algorithm: manifest.algorithm ?? null,
        environment: manifest.environment?.name ?? null,
        seed: manifest.seed ?? null,
        written: new Date(modified).toISOString(),
      })),
      left_out: Math.max(0, newest.length - listed),
      started_here: this.jobs.list(),
    });
  }

  /** Returns and readings over iterations, thinned. */
  async curves(path: string, names: readonly string[] | undefined, points: number): Promise<object> {
    const panels = await readingPanels(await this.open(path));
    const all = panels.flatMap(({ title, curves }) =>
      curves.map((curve) => ({ name: curve.name ? `${title} / ${curve.name}` : title, points: curve.points })),
    );
    const wanted = names ? all.filter(({ name }) => names.some((word) => name.includes(word))) : all;
    return {
      available: all.map(({ name }) => name),
      curves: wanted.map(({ name, points: every }) => ({ name, of: every.length, points: thinned(every, points) })),
    };
  }

  async compare(paths: readonly string[]): Promise<object> {
    const folders: string[] = [];
    for (const path of paths) folders.push(await this.inside(path));
    const { groups } = compareRuns(await readRuns(folders));
    return groups.map(({ label, games, improvement }) => ({
      settings: label,
      games: games.map(({ game, runs, interquartileMean, mean }) => ({ game, runs, interquartileMean, mean })),
      probability_of_improvement: improvement ?? null,
    }));
  }

  async start(request: { name: string; settings: Record<string, unknown>; fault?: string }): Promise<object> {
    const job = await this.jobs.train(request);
    if ('error' in job) throw new BadInput(job.error);
    return { ...job, path: job.id };
  }

  async stop(name: string): Promise<object> {
    if (!(await this.jobs.stop(name)))
      throw new BadInput(
        told(`no training called ${JSON.stringify(name)} is running`, `没有名为 ${JSON.stringify(name)} 的训练在运行`),
      );
    return { id: name, state: 'stopped' };
  }

  private async open(path: string): Promise<Recording> {
    return (await openRecordingOrLog(await this.inside(path))).recording;
  }

  private async inside(path: string): Promise<string> {
    const place = await confine(this.folder, path);
    if (place === undefined)
      throw new BadInput(
        told('there is nothing of that name below the folder that is served', '所服务的文件夹里没有这个名称'),
        { file: path },
      );
    const top = await realpath(this.folder);
    return relative(top, place) === '' ? this.folder : `${this.folder}/${relative(top, place)}`;
  }
}

/** At most so many points, the last one always among them. */
export function thinned<Point>(points: readonly Point[], most: number): Point[] {
  if (points.length <= most) return [...points];
  const step = (points.length - 1) / Math.max(1, most - 1);
  return Array.from({ length: most }, (_, i) => points[Math.round(i * step)]);
}
