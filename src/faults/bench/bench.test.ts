import { describe, expect, it } from 'vitest';
import { readSettings } from '../../training/settings.ts';
import { faults } from '../index.ts';
import type { Outcome, Result } from './outcome.ts';
import { makePlan, type PlanOptions } from './plan.ts';
import { score } from './score.ts';
import { healthySettings, setupSettings } from './setups.ts';

const options: PlanOptions = {
  faults: faults.map(({ id }) => id),
  games: ['echo', 'stag-hunt'],
  heads: ['fixed', 'pointer'],
  reserve: ['cartpole'],
  seeds: 2,
  firstSeed: 5,
  healthy: 30,
};

describe('the plan of a bench', () => {
  const plan = makePlan(options);

  it('gives every run a name of its own', () => {
    expect(new Set(plan.jobs.map(({ id }) => id)).size).toBe(plan.jobs.length);
  });

  it('trains every fault with every seed, and says why one does not fit a game', () => {
    for (const { id } of faults)
      for (const seed of [5, 6]) {
        const own = plan.jobs.filter((job) => job.fault === id && job.seed === seed);
        expect(own.length, `${id} ${seed}`).toBeGreaterThan(0);
      }
    expect(plan.unfit).toContainEqual({
      fault: 'truncation-as-termination',
      game: 'echo-fixed',
      why: 'episodes that are truncated',
    });
  });

  it('takes a game from the reserve for a fault that fits fewer than two of the others', () => {
    const games = (id: string) => new Set(plan.jobs.filter((job) => job.fault === id).map(({ game }) => game));
    expect(games('truncation-as-termination')).toEqual(new Set(['stag-hunt', 'cartpole']));
    expect(games('advantage-late')).toEqual(new Set(['echo', 'stag-hunt']));
  });

  it('points only where candidates have features', () => {
    expect(plan.jobs.some(({ game, head }) => game === 'stag-hunt' && head === 'pointer')).toBe(false);
    expect(plan.jobs.some(({ game, head }) => game === 'echo' && head === 'pointer')).toBe(true);
  });

  it('draws valid settings, always the same for a seed and others for another', () => {
    for (const job of plan.jobs.filter(({ fault }) => fault === '')) {
      expect(() => readSettings(healthySettings(job))).not.toThrow();
      expect(healthySettings(job)).toEqual(healthySettings(job));
      expect(healthySettings({ ...job, seed: job.seed + 1 })).not.toEqual(healthySettings(job));
      expect(setupSettings({ ...job, seed: 1 })).not.toEqual(setupSettings({ ...job, seed: 2 }));
    }
  });
});

describe('the score of a bench', () => {
  const outcome = (fault: string, result: Result, ...named: string[]): Outcome => ({
    job: { id: `${fault || 'healthy'}/${result}-${named.join()}`, fault, game: 'echo', head: 'fixed', seed: 1 },
    result,
    cause: fault === '' ? '' : 'cause',
    verdict: named.length > 0 ? 'faulty' : 'healthy',
    named: named.map((id) => ({ id, confidence: 0.9 })),
    strength: {},
    seconds: 1,
  });

  it('counts a fault without effect neither way, and says what was named instead', () => {
    const found = score([
      outcome('a', 'first', 'cause'),
      outcome('a', 'among', 'other', 'cause'),
      outcome('a', 'missed', 'other'),
      outcome('a', 'no-effect'),
    ]);
    expect(found).toMatchObject({ runs: 3, first: 1, named: 2, missed: 1, noEffect: 1 });
    expect(found.faults[0]).toMatchObject({ runs: 3, first: 1, among: 1, missed: 1, instead: ['other (2)'] });
    expect(found.goals.map(({ met }) => met)).toEqual([false, false]);
  });

  it('meets the goals only where every healthy run is silent', () => {
    const good = [outcome('a', 'first', 'cause'), outcome('', 'silent')];
    expect(score(good).goals.every(({ met }) => met)).toBe(true);
    expect(score([...good, outcome('', 'not-enough-evidence')]).goals.every(({ met }) => met)).toBe(false);
    expect(score([...good, outcome('', 'false-alarm', 'x')]).healthy).toMatchObject({ runs: 2, falseAlarms: 1 });
  });

  it('tells how often the cause named first is right, by its confidence', () => {
    const unsure = { ...outcome('a', 'missed', 'other'), named: [{ id: 'other', confidence: 0.45 }] };
    const { calibration, missedAs } = score([outcome('a', 'first', 'cause'), outcome('', 'false-alarm', 'x'), unsure]);
    expect(calibration).toEqual([
      { from: 0.4, to: 0.5, runs: 1, meanConfidence: 0.45, right: 0 },
      { from: 0.9, to: 0.95, runs: 2, meanConfidence: 0.9, right: 1 },
    ]);
    expect(missedAs).toEqual({ faulty: 1, unexplained: 0, healthy: 0, 'not-enough-evidence': 0 });
  });

  it('tells how often agents and onset were right, among the runs that have them', () => {
    const known = { ...outcome('a', 'first', 'cause'), agentsRight: true, onsetRight: false };
    expect(score([known, outcome('a', 'first', 'cause')])).toMatchObject({
      agents: { runs: 1, right: 1 },
      onset: { runs: 1, right: 0 },
    });
  });
});
