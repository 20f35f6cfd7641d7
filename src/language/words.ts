/** The names of figures in both languages. A diagnosis holds the English ones as keys, which programs rely on; people read them in their own language. */
import { told } from './language.ts';

const chinese: Record<string, string> = {
  seeds: '随机种子数',
  'mean return': '平均回报',
  'mean returns': '平均回报',
  'mean return without help': '单独行动的平均回报',
  'means by agent': '各智能体的均值',
  'their spread over seeds': '各种子间的标准差',
  'interquartile means': '四分位间均值',
  'their lower ends': '区间下端',
  'their upper ends': '区间上端',
  "Kendall's W": 'Kendall W',
  episodes: '局数',
  'mean return by seat': '各位置的平均回报',
  'mean return by name': '各名称的平均回报',
  'largest difference': '最大差异',
  'equivalence margin': '等价界限',
  'equivalence p': '等价检验 p',
  'equivalence p of names': '名称等价检验 p',
  equivalent: '等价',
  'narrowest margin that could be claimed': '可断言的最窄界限',
  'decisions by agent': '各智能体的决策数',
  'rows stored by agent': '各智能体存储的行数',
  'reward paid by agent': '各智能体实得的奖励',
  'reward stored by agent': '各智能体存储的奖励',
  'imagined rows by agent': '各智能体的想象行数',
  'imagined by agent': '各智能体的想象行数',
  'rows at strange seats': '位置不符的行数',
  'stored by agent': '各智能体存储的量',
  'paid by agent': '各智能体实得的量',
  'wrong rows': '错误的行数',
  'lists that differ': '不同的列表数',
  'of them, once turned back': '转回后仍不同的',
  'change of trend': '趋势变化',
  'in the usual order': '通常次序',
  'in the reversed order': '颠倒次序',
  'chi-square': '卡方',
  difference: '差异',
};

/** A key of Figures as it is read; one that has no name in the language stays as it is. */
export function figureName(name: string): string {
  const late = /^late (.+) by agent$/.exec(name);
  if (late) return told(name, `各智能体后期的 ${late[1]}`);
  return told(name.replaceAll('_', ' '), Object.hasOwn(chinese, name) ? chinese[name] : name);
}
