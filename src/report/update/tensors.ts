/** What the optimiser held and moved: groups by rate and decay, and each parameter tensor with its gradient and its change per step. Medians are over the recorded steps. */
import { told } from '../../language/language.ts';
import { median } from '../../math/statistics.ts';
import { BadInput } from '../../recording/bad-input.ts';
import type { Recording } from '../../recording/recording.ts';

export interface TensorSummary {
  name: string;
  policy: string | null;
  role: string | null;
  size: number | null;
  steps: number;
  /** Least and greatest number of optimiser groups that held it. */
  bound: [number, number] | null;
  learning_rate: number | null;
  weight_decay: number | null;
  grad_norm: number | null;
  grad_nonzero: number | null;
  delta_per_step: number | null;
  norm: number | null;
}

export interface OptimiserGroup {
  learning_rate: number | null;
  weight_decay: number | null;
  tensors: number;
  size: number;
}

/** The tensors of one role together, as people add them up when they ask whether the actor gets a gradient and moves. */
export interface RoleSummary {
  policy: string | null;
  role: string | null;
  tensors: number;
  size: number;
  bound: [number, number] | null;
  grad_norm: number | null;
  grad_nonzero: number | null;
  delta_per_step: number | null;
}

export interface TensorsReport {
  groups: OptimiserGroup[];
  roles: RoleSummary[];
  tensors: TensorSummary[];
}

const measured = [
  'bound',
  'learning_rate',
  'weight_decay',
  'grad_norm',
  'grad_nonzero',
  'delta_norm',
  'delta',
  'norm',
] as const;
type Measured = (typeof measured)[number];

export async function summariseTensors(recording: Recording): Promise<TensorsReport> {
  if (!recording.tables.includes('tensors'))
    throw new BadInput(
      told(
        "has no table tensors: record the optimiser's steps to see what it holds and moves",
        '没有 tensors 表：请记录优化器的各步，才能看到它持有和改变了什么',
      ),
      {
        file: recording.name,
      },
    );
  const values = new Map<number, Record<Measured, number[]> & { steps: number }>();
  for await (const chunk of recording.chunks('tensors', ['tensor', ...measured])) {
    const column = (name: string) => {
      const found = chunk.columns.get(name);
      return found && found.kind !== 'text' ? found.values : undefined;
    };
    const tensor = column('tensor');
    const columns = measured.map((name) => [name, column(name)] as const);
    for (let row = 0; row < chunk.rows; row++) {
      const at = Number(tensor?.[row]);
      const own = values.get(at) ?? { ...emptyLists(), steps: 0 };
      values.set(at, own);
      own.steps++;
      for (const [name, list] of columns) {
        const value = list ? Number(list[row]) : Number.NaN;
        if (!Number.isNaN(value)) own[name].push(value);
      }
    }
  }
  const { manifest } = recording;
  const tensors = [...values]
    .sort(([a], [b]) => a - b)
    .map(([at, own]): TensorSummary => {
      const declared = manifest.tensors?.[at];
      const middle = (name: Measured) => (own[name].length > 0 ? median(own[name]) : null);
      return {
        name: declared?.name ?? `tensor ${at}`,
        policy:
          declared?.policy === undefined
            ? null
            : (manifest.policies?.[declared.policy]?.name ?? `policy ${declared.policy}`),
        role: declared?.role ?? null,
        size: declared?.size ?? null,
        steps: own.steps,
        bound: own.bound.length > 0 ? [Math.min(...extremes(own.bound)), Math.max(...extremes(own.bound))] : null,
        learning_rate: own.learning_rate.at(-1) ?? null,
        weight_decay: own.weight_decay.at(-1) ?? null,
        grad_norm: middle('grad_norm'),
        grad_nonzero: middle('grad_nonzero'),
        delta_per_step: middle('delta_norm') ?? middle('delta'),
        norm: own.norm.at(-1) ?? null,
      };
    });
  return { groups: groupsOf(tensors), roles: rolesOf(tensors), tensors };
}

const emptyLists = () =>
  Object.fromEntries(measured.map((name) => [name, [] as number[]])) as Record<Measured, number[]>;

/** The least and the greatest, without spreading a long list over an argument list. */
const extremes = (values: readonly number[]) =>
  values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [values[0], values[0]]);

/** Tensors that share a rate and a decay at the end of the recording are one group. */
function groupsOf(tensors: readonly TensorSummary[]): OptimiserGroup[] {
  const groups = new Map<string, OptimiserGroup>();
  for (const { learning_rate, weight_decay, size, bound } of tensors) {
    if (bound?.[1] === 0) continue;
    const key = `${learning_rate} ${weight_decay}`;
    const group = groups.get(key) ?? { learning_rate, weight_decay, tensors: 0, size: 0 };
    groups.set(key, group);
    group.tensors++;
    group.size += size ?? 0;
  }
  return [...groups.values()];
}

function rolesOf(tensors: readonly TensorSummary[]): RoleSummary[] {
  const keys = [...new Set(tensors.map(({ policy, role }) => JSON.stringify([policy, role])))];
  return keys.map((key) => {
    const own = tensors.filter(({ policy, role }) => JSON.stringify([policy, role]) === key);
    const sum = (of: (tensor: TensorSummary) => number | null) => {
      const known = own.flatMap((tensor) => of(tensor) ?? []);
      return known.length > 0 ? known.reduce((a, b) => a + b) : null;
    };
    const bounds = own.flatMap(({ bound }) => bound ?? []);
    return {
      policy: own[0].policy,
      role: own[0].role,
      tensors: own.length,
      size: sum(({ size }) => size) ?? 0,
      bound: bounds.length > 0 ? (extremes(bounds) as [number, number]) : null,
      grad_norm: sum(({ grad_norm }) => grad_norm),
      grad_nonzero: sum(({ grad_nonzero }) => grad_nonzero),
      delta_per_step: sum(({ delta_per_step }) => delta_per_step),
    };
  });
}
