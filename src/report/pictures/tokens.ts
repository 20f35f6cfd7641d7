/** Pictures of a language model's run: rewards, the ratio of sampler and trainer beside the floor, and their agreement by place, group, version and padding. */
import type { RunPicture } from '../../doctor/causes/cause.ts';
import type { Agreement, TokenReading } from '../../doctor/tokens/reading.ts';
import type { RewardsOverTime } from '../../doctor/tokens/rewards-over-time.ts';
import { told } from '../../language/language.ts';
import type { Lines } from './picture.ts';

/** Ids by which causes name the picture that shows them, and what the figure is called in Chinese. */
const figures: Record<string, { id: RunPicture; chinese: string }> = {
  'place in the response': { id: 'token-places', chinese: '回答中的位置' },
  group: { id: 'token-groups', chinese: '组' },
  'version of the weights': { id: 'token-versions', chinese: '权重版本' },
  "padding of the trainer's row": { id: 'token-padding', chinese: '训练器行的填充' },
  "padding of the sampler's row": { id: 'token-sampler-padding', chinese: '采样器行的填充' },
  'tokens from the cache': { id: 'token-cache', chinese: '取自缓存的词元' },
};

export function rewardsPicture({ iteration, reward, flat, cut }: RewardsOverTime): Lines {
  const line = (name: string, y: readonly number[]) => {
    const known = iteration.map((_, i) => i).filter((i) => Number.isFinite(y[i]));
    return { name, x: known.map((i) => iteration[i]), y: known.map((i) => y[i]) };
  };
  return {
    kind: 'lines',
    id: 'token-rewards',
    title: told('Rewards', '奖励'),
    caption: told(
      'Mean reward of the responses. A group whose rewards are all equal teaches nothing: too many of them make a run stand still. Answers that the length limit cut are rarely right.',
      '回答的平均奖励。奖励全相等的组学不到东西：这样的组太多，训练便停滞。被长度上限截断的回答很少正确。',
    ),
    xName: told('iteration', '迭代'),
    yName: told('reward, share', '奖励、比例'),
    logarithmic: false,
    lines: [
      line(told('mean reward', '平均奖励'), reward),
      line(told('groups with equal rewards', '奖励全相等的组'), flat),
      line(told('answers cut by the length limit', '被长度上限截断的回答'), cut),
    ].filter(({ x }) => x.length > 0),
  };
}

export function tokenPictures(reading: TokenReading): Lines[] {
  const { ratios, agreement } = reading;
  const side = reading.of === 'sampler' ? told('sampler', '采样器') : told('update', '更新');
  const floor = ratios.floor
    ? told(
        ' The floor is what two clean passes of the trainer give: a healthy run lies under it.',
        '下限是训练器两次干净计算之差：健康的训练在它之下。',
      )
    : told(
        ' No second clean pass was recorded, so that the floor is not drawn.',
        '没有记录第二次干净计算，因此不画下限。',
      );
  return [
    {
      kind: 'lines',
      id: 'token-ratios',
      title: told(`Log-ratio of trainer to ${side}`, `训练器与${side}的对数比率`),
      caption: told(
        `Share of the tokens by the logarithm of their ratio, before the first step.${floor} The first and the last point hold all that lies beyond.`,
        `第一步之前，按比率的对数统计词元所占比例。${floor}首末两点包含其外的全部。`,
      ),
      xName: told('log-ratio in nats', '对数比率（奈特）'),
      yName: told('share of tokens', '词元比例'),
      logarithmic: true,
      spread: true,
      lines: [
        { name: told(`trainer and ${side}`, `训练器与${side}`), x: ratios.at, y: ratios.share },
        ...(ratios.floor
          ? [
              {
                name: told('floor: two clean passes', '下限：两次干净计算'),
                x: ratios.at,
                y: ratios.floor,
                reference: true,
              },
            ]
          : []),
      ],
    },
    ...agreement.map((own) => byFigure(own, reading, side)),
  ];
}

function byFigure({ by, at, median, nine }: Agreement, { floor }: TokenReading, side: string): Lines {
  const { id, chinese } = figures[by];
  const level = {
    name: told('floor, nine in ten', '下限，十分之九'),
    x: at,
    y: at.map(() => floor.q90),
    reference: true,
  };
  return {
    kind: 'lines',
    id,
    title: told(`Disagreement by ${by}`, `分歧：按${chinese}`),
    caption: told(
      `How far trainer and ${side} are apart, in tokens of the same ${by}. Rounding is the same everywhere; a fault is not.`,
      `训练器与${side}相差多少，按${chinese}分列。舍入处处相同，故障则不然。`,
    ),
    xName: told(by, chinese),
    yName: told('nats', '奈特'),
    logarithmic: true,
    lines: [
      { name: told('median', '中位数'), x: at, y: median },
      { name: told('nine in ten stay below', '十分之九低于'), x: at, y: nine },
      ...(floor.rows > 0 ? [level] : []),
    ],
  };
}
