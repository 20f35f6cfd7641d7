/** The entropy of soft targets, or their temperature, has the other sign. */
import type { CauseEntry } from '../../cause.ts';

export const entropyTemperatureSign: CauseEntry = {
  id: 'entropy-temperature-sign',
  group: 'C',
  place: 302,
  decidedBy: ['targets.next_logp', 'targets.temperature', 'targets.target'],
  meaning:
    'The entropy is taken off soft targets where it should be added, or the temperature moves away from the entropy that is wanted.',
  toldApart:
    'Targets are given exactly with plus temperature times log-probability; or the temperature falls where entropy is too small. Whether its loss is of alpha or of log alpha makes no difference.',
  symptoms: ['the temperature runs to 0 or without bound', 'the policy becomes deterministic at once'],
  pictures: ['entropy'],
  proof: 'Targets with either sign; or the steps in which the temperature moved away.',
  remedy:
    'Take temperature times log-probability off the bootstrap, and minimise -log_alpha * (logp + target_entropy).detach().',
  pytorch:
    'target = reward + gamma * (1 - terminated) * (q - alpha * next_logp)\nalpha_loss = -(log_alpha * (logp + target_entropy).detach()).mean()',
  trueline: '// rollouts only: there is no replay buffer',
  chinese: {
    symptoms: ['温度趋于 0 或无限增大', '策略立刻变成确定性的'],
    meaning: '软目标中的熵被减去而不是加上，或温度远离期望的熵。',
    remedy: '从自举中减去温度乘以对数概率，并最小化 -log_alpha * (logp + target_entropy).detach()。',
    toldApart: '用加上温度乘对数概率可精确得出目标；或者熵过小时温度反而下降。损失取 alpha 还是 log alpha 没有区别。',
    proof: '用两种符号算出的目标；或温度背离的那些步。',
  },
};
