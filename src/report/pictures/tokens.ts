/** Pictures of a language model's run: the ratio of sampler and trainer beside the floor, and their agreement by place, group, version and padding. */
import type { RunPicture } from '../../doctor/causes/cause.ts';
import type { Agreement, TokenReading } from '../../doctor/tokens/reading.ts';
import type { Lines } from './picture.ts';

/** Ids by which causes name the picture that shows them. */
const ids: Record<string, RunPicture> = {
  'place in the response': 'token-places',
  group: 'token-groups',
  'version of the weights': 'token-versions',
  "padding of the trainer's row": 'token-padding',
  "padding of the sampler's row": 'token-sampler-padding',
  'tokens from the cache': 'token-cache',
};

export function tokenPictures(reading: TokenReading): Lines[] {
  const { ratios, agreement } = reading;
  const side = reading.of === 'sampler' ? 'sampler' : 'update';
  return [
    {
      kind: 'lines',
      id: 'token-ratios',
      title: `Log-ratio of trainer to ${side}`,
      caption: `Share of the tokens by the logarithm of their ratio, before the first step.${ratios.floor ? ' The floor is what two clean passes of the trainer give: a healthy run lies under it.' : ' No second clean pass was recorded, so that the floor is not drawn.'} The first and the last point hold all that lies beyond.`,
      xName: 'log-ratio in nats',
      yName: 'share of tokens',
      logarithmic: true,
      lines: [
        { name: `trainer and ${side}`, x: ratios.at, y: ratios.share },
        ...(ratios.floor ? [{ name: 'floor: two clean passes', x: ratios.at, y: ratios.floor, reference: true }] : []),
      ],
    },
    ...agreement.map((own) => byFigure(own, reading, side)),
  ];
}

function byFigure({ by, at, median, nine }: Agreement, { floor }: TokenReading, side: string): Lines {
  const level =
    floor.rows > 0 ? [{ name: 'floor, nine in ten', x: at, y: at.map(() => floor.q90), reference: true }] : [];
  return {
    kind: 'lines',
    id: ids[by],
    title: `Disagreement by ${by}`,
    caption: `How far trainer and ${side} are apart, in tokens of the same ${by}. Rounding does not know where it is; a fault does.`,
    xName: by,
    yName: 'nats',
    logarithmic: true,
    lines: [{ name: 'median', x: at, y: median }, { name: 'nine in ten stay below', x: at, y: nine }, ...level],
  };
}
