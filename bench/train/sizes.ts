/** The sizes of one run of the training bench: the full ones, which the goals are for, and small ones that only prove that everything runs. */

export interface Loop {
  worlds: number;
  seats: number;
  steps: number;
  epochs: number;
  minibatches: number;
}

export interface Sizes {
  /** Goals hold for the full sizes alone. */
  full: boolean;
  /** Rows of the update with wide networks, of the one with narrow networks, and of the check that PyTorch is no straw man. */
  wideRows: number;
  narrowRows: number;
  strawRows: number;
  loop: Loop;
  rounds: number;
  /** How many of PyTorch's process settings are tried. */
  settings: number;
  cartpole: { worlds: number; steps: number };
  /** Iterations after which memory is first and last looked at. */
  memory: [number, number];
}

export const observation = 64;
export const actions = 9;
export const wide = [128, 128];
export const narrow = [64, 64];

export const fullSizes: Sizes = {
  full: true,
  wideRows: 4096,
  narrowRows: 1024,
  strawRows: 8192,
  loop: { worlds: 64, seats: 4, steps: 128, epochs: 4, minibatches: 4 },
  rounds: 9,
  settings: 8,
  cartpole: { worlds: 16, steps: 128 },
  memory: [100, 1000],
};

export const reducedSizes: Sizes = {
  full: false,
  wideRows: 128,
  narrowRows: 64,
  strawRows: 128,
  loop: { worlds: 4, seats: 4, steps: 8, epochs: 2, minibatches: 2 },
  rounds: 2,
  settings: 1,
  cartpole: { worlds: 2, steps: 16 },
  memory: [10, 20],
};

/** Six operations for every weight of both networks and every row: two forward, four backward. Biases and losses are not counted. */
export function updateFlops(rows: number, hidden: readonly number[]): number {
  const widths = [observation, ...hidden];
  let weights = 0;
  for (let i = 0; i + 1 < widths.length; i++) weights += 2 * widths[i] * widths[i + 1];
  weights += widths[widths.length - 1] * (actions + 1);
  return 6 * weights * rows;
}
