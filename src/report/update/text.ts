/** The first minibatch and the optimiser's tensors, for the terminal. A bound of 0 is the one thing nobody must overlook. */

import { told } from '../../language/language.ts';
import { printable } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { number, table } from '../table.ts';
import { agreeing, type FirstMinibatch } from './first-minibatch.ts';
import type { TensorsReport } from './tensors.ts';

export function firstText(minibatch: FirstMinibatch, paint: Style): string {
  const whose =
    minibatch.policy === null ? '' : told(` of ${printable(minibatch.policy)}`, `（${printable(minibatch.policy)}）`);
  const { rows, valid } = minibatch;
  const valued = (value: number | null) => (value === null ? told('not recorded', '未录') : number(value));
  return [
    paint.bold(
      told(
        `The first minibatch${whose}, iteration ${minibatch.iteration}, before any step`,
        `第一个小批量${whose}，迭代 ${minibatch.iteration}，任何一步之前`,
      ),
    ),
    table(
      ['sample', 'old_logp', 'new_logp', 'new - old'].map(paint.dim),
      minibatch.first.map((row) =>
        [row.sample, row.old_logp, row.new_logp, row.difference].map((value) => number(value)),
      ),
      ['right', 'right', 'right', 'right'],
    ),
    `${told('  ratio       ', '  比率      ')}${number(minibatch.ratio_least)} … ${number(minibatch.ratio_greatest)}${told(', mean ', '，均值 ')}${number(minibatch.ratio_mean)}${told(', std ', '，标准差 ')}${number(minibatch.ratio_std)}`,
    `${told('  valid rows  ', '  有效行    ')}${(valid < rows ? paint.red : paint.green)(told(`${number(valid)} of ${number(rows)}`, `${number(valid)} / ${number(rows)}`))}${told(' within ', '，误差不超过 ')}${agreeing}`,
    `${told('  KL          ', '  KL        ')}k1 ${number(minibatch.k1)}, k2 ${number(minibatch.k2)}, k3 ${number(minibatch.k3)}`,
    `${told('  entropy     ', '  熵        ')}${valued(minibatch.entropy)}`,
  ].join('\n');
}

export function tensorsText({ groups, roles, tensors }: TensorsReport, paint: Style): string {
  const valued = (value: number | null) => (value === null ? '' : number(value));
  const bound = (range: [number, number] | null) => {
    if (!range) return '';
    const text = range[0] === range[1] ? `${range[0]}` : `${range[0]} … ${range[1]}`;
    return range[0] === 1 && range[1] === 1 ? text : paint.red(text);
  };
  const several = new Set(tensors.map(({ policy }) => policy)).size > 1;
  return [
    paint.bold(told('Optimiser groups', '优化器的参数组')),
    table(
      [told('rate', '学习率'), told('decay', '衰减'), told('tensors', '张量'), told('parameters', '参数')].map(
        paint.dim,
      ),
      groups.map((group) => [
        valued(group.learning_rate),
        valued(group.weight_decay),
        number(group.tensors),
        number(group.size),
      ]),
      ['right', 'right', 'right', 'right'],
    ),
    '',
    paint.bold(told('Roles, sums over their tensors', '角色，其张量之和')),
    table(
      [
        ...(several ? [told('policy', '策略')] : []),
        told('role', '角色'),
        told('tensors', '张量'),
        told('parameters', '参数'),
        told('bound', '绑定'),
        told('gradient', '梯度'),
        told('not 0', '非零'),
        told('change', '变化'),
      ].map(paint.dim),
      roles.map((role) => [
        ...(several ? [printable(role.policy ?? '')] : []),
        role.role ?? '',
        number(role.tensors),
        number(role.size),
        bound(role.bound),
        valued(role.grad_norm),
        valued(role.grad_nonzero),
        valued(role.delta_per_step),
      ]),
      [...(several ? ['left' as const] : []), 'left', 'right', 'right', 'right', 'right', 'right', 'right'],
    ),
    '',
    paint.bold(told('Tensors, medians over the recorded steps', '张量，所录各步的中位数')),
    table(
      [
        ...(several ? [told('policy', '策略')] : []),
        told('tensor', '张量'),
        told('role', '角色'),
        told('size', '大小'),
        told('bound', '绑定'),
        told('gradient', '梯度'),
        told('not 0', '非零'),
        told('change', '变化'),
        told('norm', '范数'),
      ].map(paint.dim),
      tensors.map((tensor) => [
        ...(several ? [printable(tensor.policy ?? '')] : []),
        printable(tensor.name),
        tensor.role ?? '',
        valued(tensor.size),
        bound(tensor.bound),
        valued(tensor.grad_norm),
        valued(tensor.grad_nonzero),
        valued(tensor.delta_per_step),
        valued(tensor.norm),
      ]),
      [...(several ? ['left' as const] : []), 'left', 'left', 'right', 'right', 'right', 'right', 'right', 'right'],
    ),
  ].join('\n');
}
