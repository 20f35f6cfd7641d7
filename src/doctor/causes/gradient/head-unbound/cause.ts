/** No optimiser holds the last layer of the actor. */
import type { CauseEntry } from '../../cause.ts';

export const headUnbound: CauseEntry = {
  id: 'head-unbound',
  group: 'C',
  place: 260,
  explains: ['learning-rate-too-small', 'policy-head-flat'],
  decidedBy: ['tensors.bound', 'tensors.delta'],
  meaning: 'No optimiser holds the last layer of the actor.',
  toldApart: 'As optimizer-unbound, for the head only.',
  symptoms: ['logits hardly move', 'the trunk changes and choices do not'],
  pictures: ['gradients', 'changes'],
  proof: 'The head has a gradient and does not change; the layers before it do.',
  remedy:
    "Add the head's parameters to the optimiser (a head that was replaced after the optimiser was made is not in it).",
  pytorch: `actor.head = nn.Linear(128, n_actions)
optimizer = Adam(actor.parameters())           # after the replacement`,
  trueline: 'job.bound counts the groups that hold each tensor',
  chinese: {
    symptoms: ['logits 几乎不动', '主干在变，选择不变'],
    meaning: '没有优化器持有执行者的最后一层。',
    remedy: '把最后一层的参数加入优化器（优化器建好之后才替换的最后一层不在其中）。',
    toldApart: '同 optimizer-unbound，只是仅限输出层。',
    proof: '输出层有梯度而不变，之前的各层在变。',
  },
};
