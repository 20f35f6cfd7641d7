/** The first minibatch and the optimiser's tensors, for the terminal. A bound of 0 is the one thing nobody must overlook. */

import { printable } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { number, table } from '../table.ts';
import { agreeing, type FirstMinibatch } from './first-minibatch.ts';
import type { TensorsReport } from './tensors.ts';

export function firstText(minibatch: FirstMinibatch, paint: Style): string {
  const whose = minibatch.policy === null ? '' : ` of ${printable(minibatch.policy)}`;
  const { rows, valid } = minibatch;
  const told = (value: number | null) => (value === null ? 'not recorded' : number(value));
  return [
    paint.bold(`The first minibatch${whose}, iteration ${minibatch.iteration}, before any step`),
    table(
      ['sample', 'old_logp', 'new_logp', 'new - old'].map(paint.dim),
      minibatch.first.map((row) =>
        [row.sample, row.old_logp, row.new_logp, row.difference].map((value) => number(value)),
      ),
      ['right', 'right', 'right', 'right'],
    ),
    `  ratio       ${number(minibatch.ratio_least)} to ${number(minibatch.ratio_greatest)}`,
    `  valid rows  ${(valid < rows ? paint.red : paint.green)(`${number(valid)} of ${number(rows)}`)} within ${agreeing}`,
    `  KL          k1 ${number(minibatch.k1)}, k2 ${number(minibatch.k2)}, k3 ${number(minibatch.k3)}`,
    `  entropy     ${told(minibatch.entropy)}`,
  ].join('\n');
}

export function tensorsText({ groups, tensors }: TensorsReport, paint: Style): string {
  const told = (value: number | null) => (value === null ? '' : number(value));
  const bound = (range: [number, number] | null) => {
    if (!range) return '';
    const text = range[0] === range[1] ? `${range[0]}` : `${range[0]} to ${range[1]}`;
    return range[0] === 1 && range[1] === 1 ? text : paint.red(text);
  };
  const several = new Set(tensors.map(({ policy }) => policy)).size > 1;
  return [
    paint.bold('Optimiser groups'),
    table(
      ['rate', 'decay', 'tensors', 'parameters'].map(paint.dim),
      groups.map((group) => [
        told(group.learning_rate),
        told(group.weight_decay),
        number(group.tensors),
        number(group.size),
      ]),
      ['right', 'right', 'right', 'right'],
    ),
    '',
    paint.bold('Tensors, medians over the recorded steps'),
    table(
      [...(several ? ['policy'] : []), 'tensor', 'role', 'size', 'bound', 'gradient', 'not 0', 'change', 'norm'].map(
        paint.dim,
      ),
      tensors.map((tensor) => [
        ...(several ? [printable(tensor.policy ?? '')] : []),
        printable(tensor.name),
        tensor.role ?? '',
        told(tensor.size),
        bound(tensor.bound),
        told(tensor.grad_norm),
        told(tensor.grad_nonzero),
        told(tensor.delta_per_step),
        told(tensor.norm),
      ]),
      [...(several ? ['left' as const] : []), 'left', 'left', 'right', 'right', 'right', 'right', 'right', 'right'],
    ),
  ].join('\n');
}
