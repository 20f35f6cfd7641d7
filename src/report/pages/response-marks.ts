/** The responses that disagree most, token by token, as the page and the studio colour them: how strongly, which way, and the numbers beside. Nothing here is markup. */
import type { ReadResponse, ReadToken, TokenReading } from '../../doctor/tokens/reading.ts';
import { comma, told } from '../../language/language.ts';
import { number } from '../number.ts';
import type { Decode } from './tokenizer.ts';

/** `apart`: sampler and trainer disagree; `raised` and `lowered`: what the loss does with the token. */
export type Tone = 'apart' | 'raised' | 'lowered';

export interface Mark {
  id: number;
  /** Absent where no tokenizer tells it. */
  text: string | undefined;
  tone: Tone;
  /** How strongly, from 0 to 1. */
  strength: number;
  numbers: string;
  /** The model's own word; a tool's, a user's or a template's otherwise. */
  own: boolean;
}

export interface MarkedResponse {
  title: string;
  facts: string;
  strips: { legend: string; marks: Mark[] }[];
}

/** What stands above them. */
export const markedHeading = ({ of }: TokenReading): { title: string; text: string } => ({
  title: told('The responses that disagree most', '分歧最大的回答'),
  text:
    of === 'sampler'
      ? told(
          'By the mean gap between trainer and sampler. Point at a token to see its numbers.',
          '按训练器与采样器的平均差距排列。将指针移到词元上可查看其数值。',
        )
      : told(
          'By the mean gap between trainer and update. Point at a token to see its numbers.',
          '按训练器与更新的平均差距排列。将指针移到词元上可查看其数值。',
        ),
});

export function markedResponses(reading: TokenReading, decode?: Decode): MarkedResponse[] {
  return reading.worst.map((response) => marked(response, reading, decode));
}

function marked(response: ReadResponse, { floor, of }: TokenReading, decode?: Decode): MarkedResponse {
  const { tokens } = response;
  const most = (value: (token: ReadToken) => number) => Math.max(...tokens.map((token) => Math.abs(value(token)) || 0));
  const widest = Math.max(
    most(({ gap }) => gap),
    floor.q98,
  );
  const steepest = most(({ coef }) => coef);
  const facts: [string, number][] = [
    [told('iteration', '迭代'), response.iteration],
    [told('group', '组'), response.group],
    [told('reward', '奖励'), response.reward],
    [told('advantage', '优势'), response.advantage],
    [told('mean gap', '平均差距'), response.gap],
  ];
  const strip = (share: (token: ReadToken) => number, tone: (token: ReadToken) => Tone) =>
    tokens.map((token) => ({
      id: token.token,
      text: decode?.(token.token),
      tone: tone(token),
      strength: Math.min(1, share(token)) || 0,
      numbers: numbers(token, of),
      own: token.source === 'sampled',
    }));
  return {
    title: `${told('Response', '回答')} ${number(response.episode)}`,
    facts: [
      ...facts.filter(([, value]) => Number.isFinite(value)).map(([name, value]) => `${name} ${number(value)}`),
      ...(tokens.length < response.length
        ? [
            told(
              `the ${tokens.length} of ${response.length} tokens that disagree most`,
              `仅显示 ${response.length} 个词元中分歧最大的 ${tokens.length} 个`,
            ),
          ]
        : []),
    ].join(comma()),
    strips: [
      {
        legend: told('By disagreement: the darker, the farther apart.', '按分歧着色：越深，差距越大。'),
        marks: strip(
          ({ gap }) => Math.abs(gap) / widest,
          () => 'apart',
        ),
      },
      ...(steepest > 0
        ? [
            {
              legend: told(
                'By what the loss does: blue raises the token, red lowers it.',
                '按损失的作用着色：蓝色提高该词元的概率，红色降低它。',
              ),
              marks: strip(
                ({ coef }) => Math.abs(coef) / steepest,
                ({ coef }) => (coef < 0 ? 'raised' : 'lowered'),
              ),
            },
          ]
        : []),
    ],
  };
}

const origins: Record<string, [string, string]> = {
  environment: ['environment', '环境'],
  template: ['template', '模板'],
  prompt: ['prompt', '提示词'],
  padding: ['padding', '填充'],
};

function numbers(token: ReadToken, of: TokenReading['of']): string {
  const { source } = token;
  const [at, origin] = [
    told('at', '位置'),
    source === 'sampled' ? '' : ` (${told(...(origins[source] ?? [source, source]))})`,
  ];
  const figures: [string, number][] = [
    [of === 'sampler' ? told('sampler', '采样器') : told('update', '更新'), token.said],
    [told('trainer', '训练器'), token.expected],
    [told('apart', '差距'), token.gap],
    ['coef', token.coef],
  ];
  return [
    `${told('token', '词元')} ${token.token} ${at} ${token.t}${origin}`,
    ...figures.filter(([, value]) => Number.isFinite(value)).map(([name, value]) => `${name} ${number(value)}`),
  ].join(comma());
}
