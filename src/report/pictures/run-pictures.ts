/** Pictures of the run as a whole: KL estimators, entropy against log K, gradients and changes by role, reported metrics against recomputed ones. */

import type { Run } from '../../doctor/evidence/run.ts';
import { told } from '../../language/language.ts';
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
    line(told('2 standard errors of k1', 'k1 的 2 倍标准误'), groups, error, true),
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
    title: told('How far each update moved the policy', '每次更新把策略移动了多远'),
    caption: told(
      'KL estimators recomputed from the rows of all minibatches. k1 is unbiased and noisy, and may be negative; k2 and k3 are steady.',
      '由所有小批量的数据行重算的 KL 估计。k1 无偏但噪声大，可以为负；k2 与 k3 稳定。',
    ),
    xName: told('iteration', '迭代'),
    yName: told('nats', '奈特'),
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
          run.policies[policy] ??
            (policies.length > 1 ? told(`policy ${policy}`, `策略 ${policy}`) : told('entropy', '熵')),
          byIteration(curves.policies.filter((point) => point.policy === policy)),
          plain(recomputed),
        ),
      )
    : [
        line(
          told(`mean of ${policies.length} policies`, `${policies.length} 个策略的均值`),
          byIteration(curves.policies),
          plain(recomputed),
        ),
      ];
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
    title: most.x.length > 0 ? told('Entropy against log K', '熵与 log K') : told('Entropy', '熵'),
    caption:
      most.x.length > 0
        ? told(
            'log K is the entropy of a blind choice among the legal candidates. Healthy training leaves it slowly.',
            'log K 是在合法候选中盲目选择时的熵。健康的训练缓慢离开它。',
          )
        : told(
            'How undecided the policy is. Healthy training lowers it slowly; where it is gone, all answers are alike.',
            '策略有多犹豫。健康的训练使它缓慢下降；降到零时，所有回答都一样。',
          ),
    xName: told('iteration', '迭代'),
    yName: told('nats', '奈特'),
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
        line(
          told(`${role}, affected`, `${role}，受影响的`),
          byIteration(own.filter(({ policy }) => affected.has(policy))),
          plain(value),
        ),
        line(
          told(`${role}, others`, `${role}，其他`),
          byIteration(own.filter(({ policy }) => !affected.has(policy))),
          plain(value),
          true,
        ),
      ];
    });
    const shown = lines.filter(({ x }) => x.length > 0);
    if (shown.length === 0) return null;
    return {
      kind: 'lines',
      id,
      title,
      caption,
      xName: told('iteration', '迭代'),
      yName: told('length', '长度'),
      logarithmic: true,
      lines: shown,
    };
  };
  return [
    make(
      'gradients',
      told('Gradients by role', '各部分的梯度'),
      told(
        'Length of the gradient as the optimiser saw it, mean over the steps of an update. 0 means that no gradient arrives.',
        '优化器所见梯度的长度，一次更新各步的均值。0 表示没有梯度到达。',
      ),
      ({ gradient }) => gradient,
    ),
    make(
      'changes',
      told('Parameter changes by role', '各部分的参数变化'),
      told(
        'Length of the change across a step. 0 beside a gradient means that no optimiser holds the parameters.',
        '一步前后变化的长度。有梯度而为 0，表示没有优化器持有这些参数。',
      ),
      ({ change }) => change,
    ),
  ].filter((picture) => picture !== null);
}

export function reportedPictures(curves: Curves): Scatter[] {
  const names: Record<string, string> = {
    policy_loss: told('Policy loss', '策略损失'),
    approx_kl: 'KL',
    clip_fraction: told('Clip fraction', '裁剪比例'),
    entropy: told('Entropy', '熵'),
  };
  return Object.entries(names).flatMap(([metric, title]): Scatter[] => {
    const kinds = [...curves.compared].filter(([name]) => name.split(' ')[0] === metric);
    if (kinds.length === 0) return [];
    const distance = (store: { x: number[]; y: number[] }) => median(store.x.map((x, i) => Math.abs(x - store.y[i])));
    // Programs report different estimators; the nearest is taken for what was meant.
    const [name, store] = kinds.reduce((best, item) => (distance(item[1]) < distance(best[1]) ? item : best));
    const estimator = name.split(' ')[1];
    const note = `${told('median distance from the diagonal', '到对角线的中位距离')} ${distance(store).toPrecision(3)}`;
    return [
      {
        kind: 'scatter',
        id: `reported-${metric}`,
        title: told(`${title}, reported and recomputed`, `${title}：报告值与重算值`),
        caption: told(
          'A point is one optimiser step. On the diagonal the trainer reports what its rows give.',
          '一个点是一次优化器步。在对角线上，训练程序所报告的与其数据行算出的一致。',
        ),
        xName: `${told('recomputed', '重算值')}${estimator ? ` (${estimator})` : ''}`,
        yName: told('reported', '报告值'),
        diagonal: true,
        panels: [{ label: title, note, ...thinPoints(store.x, store.y, 600), total: store.total }],
      },
    ];
  });
}
