/** Pictures of the run as a whole: KL estimators, entropy against log K, gradients and changes by role, reported metrics against recomputed ones. */
import type { Run } from '../../doctor/evidence/run.ts';
import { median } from '../../math/statistics.ts';
import type { Curves, PolicyPoint, RolePoint } from './curves.ts';
import { type Line, type Lines, type Scatter, thinLine, thinPoints } from './picture.ts';

type Points<T> = { iteration: number; points: T[] }[];

function byIteration<T extends { iteration: number }>(points: readonly T[]): Points<T> {
  const groups = new Map<number, T[]>();
  for (const point of points) groups.set(point.iteration, [...(groups.get(point.iteration) ?? []), point]);
  return [...groups].map(([iteration, list]) => ({ iteration, points: list }));
}

function line<T>(name: string, groups: Points<T>, value: (points: T[]) => number, reference = false): Line {
  const x: number[] = [];
  const y: number[] = [];
  for (const { iteration, points } of groups) {
    const found = value(points);
    if (!Number.isFinite(found)) continue;
    x.push(iteration);
    y.push(found);
  }
  return { name, ...thinLine(x, y), ...(reference ? { reference } : {}) };
}

const weighted = (value: (point: PolicyPoint) => number) => (points: PolicyPoint[]) => {
  let [sum, rows] = [0, 0];
  for (const point of points) {
    if (point.rows === 0) continue;
    sum += point.rows * value(point);
    rows += point.rows;
  }
  return sum / rows;
};

const plain =
  <T>(value: (point: T) => number) =>
  (points: T[]) =>
    points.reduce((sum, point) => sum + value(point), 0) / points.length;

export function klPicture(curves: Curves, affected: ReadonlySet<number> | null): Lines | null {
  const groups = byIteration(curves.policies.filter(({ policy }) => !affected || affected.has(policy)));
  const error = (points: PolicyPoint[]) => {
    const [k1, k2] = [weighted(({ k1 }) => k1)(points), weighted(({ k2 }) => k2)(points)];
    const rows = points.reduce((sum, point) => sum + point.rows, 0);
    return 2 * Math.sqrt(Math.max(0, 2 * k2 - k1 * k1) / rows);
  };
  const lines = [
    line(
      'k1',
      groups,
      weighted(({ k1 }) => k1),
    ),
    line(
      'k2',
      groups,
      weighted(({ k2 }) => k2),
    ),
    line(
      'k3',
      groups,
      weighted(({ k3 }) => k3),
    ),
    line('2 standard errors of k1', groups, error, true),
    line(
      'as reported',
      groups,
      plain(({ reportedKl }) => reportedKl),
      true,
    ),
  ].filter(({ x }) => x.length > 0);
  if (!lines.some(({ reference }) => !reference)) return null;
  return {
    kind: 'lines',
    id: 'kl',
    title: 'How far each update moved the policy',
    caption:
      'KL estimators recomputed from the rows of all minibatches. k1 is unbiased and noisy, and may be negative; k2 and k3 are steady.',
    xName: 'iteration',
    yName: 'nats',
    logarithmic: false,
    lines,
  };
}

export function entropyPicture(curves: Curves, run: Run): Lines | null {
  const policies = [...new Set(curves.policies.map(({ policy }) => policy))].sort((a, b) => a - b);
  const recomputed = (point: PolicyPoint) => (Number.isFinite(point.entropy) ? point.entropy : point.reportedEntropy);
  const few = policies.length <= 4;
  const lines = few
    ? policies.map((policy) =>
        line(
          run.policies[policy] ?? (policies.length > 1 ? `policy ${policy}` : 'entropy'),
          byIteration(curves.policies.filter((point) => point.policy === policy)),
          plain(recomputed),
        ),
      )
    : [line(`mean of ${policies.length} policies`, byIteration(curves.policies), plain(recomputed))];
  const most = line(
    'log K',
    byIteration(curves.policies),
    weighted(({ logCount }) => logCount),
    true,
  );
  const shown = [...lines, most].filter(({ x }) => x.length > 0);
  if (!shown.some(({ reference }) => !reference)) return null;
  return {
    kind: 'lines',
    id: 'entropy',
    title: 'Entropy against log K',
    caption: 'log K is the entropy of a blind choice among the legal candidates. Healthy training leaves it slowly.',
    xName: 'iteration',
    yName: 'nats',
    logarithmic: false,
    lines: shown,
  };
}

export function rolePictures(curves: Curves, affected: ReadonlySet<number> | null): Lines[] {
  const roles = [...new Set(curves.roles.map(({ role }) => role))];
  const make = (id: string, title: string, caption: string, value: (point: RolePoint) => number): Lines | null => {
    const lines = roles.flatMap((role) => {
      const own = curves.roles.filter((point) => point.role === role);
      if (!affected) return [line(role, byIteration(own), plain(value))];
      return [
        line(`${role}, affected`, byIteration(own.filter(({ policy }) => affected.has(policy))), plain(value)),
        line(`${role}, others`, byIteration(own.filter(({ policy }) => !affected.has(policy))), plain(value), true),
      ];
    });
    const shown = lines.filter(({ x }) => x.length > 0);
    if (shown.length === 0) return null;
    return { kind: 'lines', id, title, caption, xName: 'iteration', yName: 'length', logarithmic: true, lines: shown };
  };
  return [
    make(
      'gradients',
      'Gradients by role',
      'Length of the gradient as the optimiser saw it, mean over the steps of an update. 0 means that no gradient arrives.',
      ({ gradient }) => gradient,
    ),
    make(
      'changes',
      'Parameter changes by role',
      'Length of the change across a step. 0 beside a gradient means that no optimiser holds the parameters.',
      ({ change }) => change,
    ),
  ].filter((picture) => picture !== null);
}

export function reportedPictures(curves: Curves): Scatter[] {
  const names: Record<string, string> = {
    policy_loss: 'Policy loss',
    approx_kl: 'KL',
    clip_fraction: 'Clip fraction',
    entropy: 'Entropy',
  };
  return Object.entries(names).flatMap(([metric, title]): Scatter[] => {
    const kinds = [...curves.compared].filter(([name]) => name.split(' ')[0] === metric);
    if (kinds.length === 0) return [];
    const distance = (store: { x: number[]; y: number[] }) => median(store.x.map((x, i) => Math.abs(x - store.y[i])));
    // Programs report different estimators; the nearest is taken for what was meant.
    const [name, store] = kinds.reduce((best, item) => (distance(item[1]) < distance(best[1]) ? item : best));
    const estimator = name.split(' ')[1];
    const note = `median distance from the diagonal ${distance(store).toPrecision(3)}`;
    return [
      {
        kind: 'scatter',
        id: `reported-${metric}`,
        title: `${title}, reported and recomputed`,
        caption: 'A point is one optimiser step. On the diagonal the trainer reports what its rows give.',
        xName: `recomputed${estimator ? ` (${estimator})` : ''}`,
        yName: 'reported',
        diagonal: true,
        panels: [{ label: title, note, ...thinPoints(store.x, store.y, 600), total: store.total }],
      },
    ];
  });
}
