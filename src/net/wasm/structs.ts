/** Field tables of the structures that the kernels read; each must list the fields of `kernels/assembly/structs.ts` in the same order. */

function fields<const Names extends readonly string[]>(
  ...names: Names
): { [Name in Names[number]]: number } & { words: number } {
  const table: Record<string, number> = { words: names.length };
  names.forEach((name, index) => {
    table[name] = index;
  });
  return table as { [Name in Names[number]]: number } & { words: number };
}

export const BLOCK = 64;
export const ITEMS = 128;
export const LANES = 4;
export const SPARSITY = 4;
/** A policy's minibatch from `MANY_ROWS` rows on has twice as many lanes. */
export const MOST_LANES = 2 * LANES;
const MANY_ROWS = 2048;
export const laneCount = (rows: number) => (rows < MANY_ROWS ? LANES : MOST_LANES);
export const STATISTICS = 9;
/** Rows of one copy task. */
export const COPY_ROWS = 512;
/** Rows of one forward task. */
export const FORWARD_ROWS = 32;

export const layerFields = fields(
  'inputs',
  'outputs',
  'inputs4',
  'outputs4',
  'weight',
  'bias',
  'transposed',
  'input',
  'activation',
);

export const netFields = fields(
  'layers',
  'count',
  'pointer',
  'features',
  'parameters',
  'floats',
  'tensors',
  'tensorCount',
  'output',
  'deltaA',
  'deltaB',
  'panel',
  'rowPart',
  'rowPanel',
  'local',
  'localProbability',
  'rowFigures',
  'rowOfItem',
  'entries',
  'starts',
);

export const tensorFields = fields('parameters', 'floats', 'role', 'results');

export const jobFields = fields(
  'actor',
  'critic',
  'rows',
  'order',
  'place',
  'obs',
  'state',
  'offsets',
  'subset',
  'legal',
  'features',
  'action',
  'oldLogp',
  'advantage',
  'returns',
  'oldValue',
  'weight',
  'uniforms',
  'outAction',
  'outLogp',
  'outEntropy',
  'outValue',
  'outLogits',
  'outOffsets',
  'inverseTemperature',
  'clip',
  'valueCoefficient',
  'entropyCoefficient',
  'huber',
  'huberDelta',
  'valueClip',
  'advantageScale',
  'inverseWeight',
  'parameters',
  'gradient',
  'firstMoment',
  'secondMoment',
  'lanes',
  'laneBytes',
  'statistics',
  'beta1',
  'beta2',
  'oneLessBeta1',
  'oneLessBeta2',
  'eps',
  'inverseRootCorrection',
  'stepSize0',
  'stepSize1',
  'stepSize2',
  'decay0',
  'decay1',
  'decay2',
  'scale0',
  'scale1',
  'scale2',
  'measure',
  'wrong',
);

export const passFields = fields(
  'net',
  'rows',
  'x',
  'y',
  'activations',
  'activationBytes',
  'gradOut',
  'gradIn',
  'lanes',
  'laneBytes',
  'gradient',
  'add',
  'loss',
  'targets',
  'legal',
  'share',
  'losses',
  'shares',
  'stride',
);

export const copyFields = fields('into', 'from', 'list', 'rows', 'bytes');

/** What a network by itself is taught. */
export const lossKinds = { bernoulli: 1, gaussian: 2, choice: 3 } as const;

export const taskKinds = {
  actorForward: 0,
  actorLane: 1,
  criticLane: 2,
  reduce: 3,
  adam: 4,
  passForward: 5,
  passBackward: 6,
  criticForward: 7,
  copy: 8,
  passLearn: 9,
} as const;
