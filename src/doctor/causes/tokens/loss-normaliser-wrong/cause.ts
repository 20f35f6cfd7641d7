/** The loss is a mean over another level than declared: micro-batch, rank, sequence, or accumulation left out. */
import type { CauseEntry } from '../../cause.ts';

export const lossNormaliserWrong: CauseEntry = {
  id: 'loss-normaliser-wrong',
  group: 'C',
  place: 282,
  decidedBy: ['replays.coef', 'steps.tokens', 'steps.sequences', 'replays.micro_batch'],
  meaning:
    'The loss is a mean over another level than declared: micro-batch, rank, sequence, or accumulation left out.',
  toldApart:
    'One normaliser per level is fitted to the derivative of the loss; the level at which it is constant names it.',
  symptoms: [
    'results that change with gradient accumulation or the number of GPUs',
    'long answers count for more or less than they should',
  ],
  proof: 'The derivative of the loss is exact with another normaliser.',
  remedy: 'Divide by the count of the whole optimiser step, over all micro-batches and ranks.',
  pytorch: 'loss = token_loss.sum() / tokens_in_step        # summed over ranks, not .mean() per micro-batch',
  chinese: {
    symptoms: ['结果随梯度累积或 GPU 数量变化', '长回答的分量过大或过小'],
    meaning: '损失是在与声明不同的层次上取平均：微批、进程、序列，或漏掉了累积。',
    remedy: '除以整个优化步（所有微批和进程）的计数。',
    toldApart: '对损失的导数在每一层级拟合一个归一化因子；它在哪一层级是常数，就是哪一个。',
    proof: '换用另一个归一化因子时，损失的导数精确成立。',
  },
};
