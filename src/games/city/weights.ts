/** Weights of the linear player. */
export const linearWeights: readonly number[] = new Array<number>(44).fill(0);
