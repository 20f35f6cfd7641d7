/**
 * How far one step of each optimiser can move a tensor, from its own formula. An optimiser that is not known here, or whose settings were not
 * declared, has no bound: nothing may be concluded from the size of its steps.
 */
import { limits } from './limits.ts';

/** What a bound may depend on, of one tensor in one step. */
export interface StepFacts {
  rate: number;
  size: number;
  /** Length of what the optimiser took for the gradient, decay included; NaN where it was not recorded. */
  gradient: number;
  /** The longest gradient since the optimiser's memory was last unbroken, this one included. */
  longest: number;
  /** Sum of the gradients' lengths, each multiplied by the momentum once for every step since; NaN where steps are missing. */
  gathered: number;
}

export interface OptimiserBound {
  /** By how much the gathered gradients fade from step to step. */
  readonly momentum: number;
  /** Most that the L2 norm of a tensor's change can be. */
  length(facts: StepFacts): number;
}

type Declared = (name: string) => unknown;

const number = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise);

/** Every entry moves by at most `entry` rates. */
const byEntry = (entry: number): OptimiserBound => ({
  momentum: 0,
  length: ({ rate, size }) => entry * rate * Math.sqrt(size),
});

function betas(declared: Declared): [number, number] {
  const found = declared('betas');
  return Array.isArray(found) && found.length === 2 ? [Number(found[0]), Number(found[1])] : [0.9, 0.999];
}

/**
 * Adam divides a mean of gradients by the root of a mean of squares; the worst is one large gradient after many small ones: (1 - b1) / sqrt(1 - b2)
 * rates, or 1 where that is less.
 */
function adam(declared: Declared): number {
  const [first, second] = betas(declared);
  const bound = (1 - first) / Math.sqrt(1 - second);
  return bound > 1 && Number.isFinite(bound) ? bound : 1;
}

/** The optimiser's memory is a sum of gradients: it is bounded by the sum of their lengths. */
const sgd = (momentum: number, nesterov: boolean): OptimiserBound => ({
  momentum,
  // Nesterov's step is the gradient and once more the faded memory: at most the memory and the gradient.
  length: ({ rate, gradient, gathered }) => rate * (nesterov ? gradient + momentum * gathered : gathered),
});

const bounds: Record<string, (declared: Declared) => OptimiserBound | null> = {
  adam: (declared) => byEntry(adam(declared)),
  adamw: (declared) => byEntry(adam(declared)),
  // The newest gradient enters by itself beside the mean, divided by the root of its own share in the mean of squares.
  nadam: (declared) => byEntry(1 + 1 / Math.sqrt(1 - betas(declared)[1])),
  // Before it trusts its mean of squares it steps by the mean of gradients alone.
  radam: (declared) => ({
    momentum: 0,
    length: ({ rate, size, longest }) => rate * Math.max(adam(declared) * Math.sqrt(size), longest),
  }),
  // The divisor fades slower than the mean: a geometric sum.
  adamax: (declared) => {
    const [first, second] = betas(declared);
    return byEntry(Math.max(1, (1 - first) / (1 - first / second)));
  },
  adagrad: () => byEntry(1),
  rmsprop: (declared) => {
    // Centred, the divisor can come as near to 0 as it likes.
    if (declared('centered') === true || typeof declared('alpha') !== 'number') return null;
    const momentum = number(declared('momentum'), 0);
    return byEntry(1 / Math.sqrt(1 - number(declared('alpha'), 0)) / (1 - momentum));
  },
  sgd: (declared) => {
    const momentum = declared('momentum');
    return typeof momentum === 'number' ? sgd(momentum, declared('nesterov') === true) : null;
  },
};
bounds.rmsproptflike = bounds.rmsprop;

/** The bound of the optimiser that a recording declares. */
export function optimiserBound(declared: Declared): OptimiserBound | null {
  const name = String(declared('name') ?? '').toLowerCase();
  return (Object.hasOwn(bounds, name) ? bounds[name] : undefined)?.(declared) ?? null;
}

/** Steps that an optimiser takes before the size of its steps is its own: TensorFlow's RMSprop divides at first by a memory that began at 1 and has to fade. */
export function slowSteps(declared: Declared): number {
  const alpha = number(declared('alpha'), 0);
  if (String(declared('name') ?? '').toLowerCase() !== 'rmsproptflike' || !(alpha > 0 && alpha < 1)) return 0;
  return Math.log(limits.vanished.value) / Math.log(alpha);
}

/** Follows one tensor's gradients from step to step, as the optimiser's memory does. */
export class GradientMemory {
  private longest = 0;
  private gathered = 0;
  private iteration = -1;
  private steps = 0;
  private broken = false;

  /** What the bound needs at this step. A gap in the recording makes the memory unknown until it has faded. */
  step(iteration: number, gradient: number, momentum: number): { longest: number; gathered: number } {
    if (iteration > this.iteration + 1) {
      this.broken = true;
      this.steps = 0;
      this.gathered = 0;
    }
    this.iteration = iteration;
    this.steps++;
    this.longest = Math.max(this.longest, gradient);
    this.gathered = momentum * this.gathered + gradient;
    // A memory of which less than a hundredth is left cannot hide a step.
    const faded = momentum ** this.steps < limits.fadedMomentum.value;
    return {
      longest: this.broken ? Number.NaN : this.longest,
      gathered: this.broken && !faded ? Number.NaN : this.gathered,
    };
  }
}
