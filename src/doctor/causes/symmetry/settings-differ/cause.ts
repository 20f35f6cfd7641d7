/** Agents' settings are not the same. */
import type { CauseEntry } from '../../cause.ts';

export const settingsDiffer: CauseEntry = {
  id: 'settings-differ',
  group: 'F',
  place: 1030,
  meaning: "Agents' settings are not the same.",
  toldApart: "The settings' difference.",
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'agent_settings differ between agents.',
  remedy: 'Build all agents from one settings object.',
  pytorch: 'agents = [Agent(config) for _ in names]',
  trueline: 'one settings file for all agents',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '各智能体的设置不相同。',
    remedy: '用同一个设置对象构造所有智能体。',
    toldApart: '设置的差异。',
    proof: 'agent_settings 在智能体之间不同。',
  },
};
