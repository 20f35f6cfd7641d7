/** `trueline adapt`: a trained agent among partners it has never met, episode by episode, as it is and while it goes on learning. A life is a sequence of episodes with the same partners; beliefs live as long. */
import { Command } from 'commander';
import { makeGame } from '../../games/index.ts';
import { told } from '../../language/language.ts';
import type { Engine } from '../../net/types.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { writeWhole } from '../../recording/node.ts';
import { style, wantsColour } from '../../report/style.ts';
import { number, table } from '../../report/table.ts';
import { curveOf, interval, playMatch } from '../../training/lineup/match.ts';
import { readOrigins } from '../../training/node.ts';
import { mergeSettings } from '../../training/recommended.ts';
import type { Settings } from '../../training/settings.ts';
import { Trainer } from '../../training/trainer.ts';
import { asBadInput, json, print, wholeNumber, words } from '../common/options.ts';
import { type Progress, progress } from '../common/progress.ts';
import { asPlayer, openRun } from './partners.ts';

interface Flags {
  policy: string;
  partners: string;
  episodes: number;
  lives: number;
  seed: number;
  learn: boolean;
  svg?: string;
  json?: boolean;
}

type Curve = { mean: number; halfWidth: number }[];

export function adaptCommand(): Command {
  return new Command('adapt')
    .description('A trained agent among partners it has never met: return per episode, as it is and while it learns.')
    .argument('<game>', 'echo, stag-hunt, snowdrift, city ...')
    .requiredOption('--policy <run>', 'a folder that trueline train wrote, or RUN#agent; it plays the first seat')
    .requiredOption('--partners <list>', 'who plays the other seats: runs or scripted players; one stands for all')
    .option('--episodes <n>', 'how many episodes of each life', wholeNumber, 20)
    .option('--lives <n>', 'how many lives with these partners; intervals are over them', wholeNumber, 16)
    .option('--seed <n>', 'the seed of every random stream', wholeNumber, 1)
    .option('--no-learn', 'only as it is')
    .option('--svg <file>', 'write the curves as a picture')
    .addOption(json())
    .addHelpText(
      'after',
      '\nExample:\n  $ trueline adapt stag-hunt --policy runs/hop --partners nearest-stag,nearest-hare,random --episodes 20\n',
    )
    .action((game: string, flags: Flags) =>
      adapt(game, flags).catch((error: unknown) => {
        throw asBadInput(error);
      }),
    );
}

async function adapt(name: string, flags: Flags): Promise<void> {
  if (flags.episodes < 1 || flags.lives < 2)
    throw new BadInput(
      told('--episodes must be at least 1 and --lives at least 2', '--episodes 至少为 1，--lives 至少为 2'),
    );
  const run = await openRun(flags.policy.replace(/#[^/]*$/, ''));
  try {
    const given = name === run.settings.game ? run.settings.gameSettings : {};
    const settings: Settings = { ...run.settings, game: name, gameSettings: given, names: null, sharing: 'separate' };
    const { seats } = makeGame(name, given).shape;
    const typed = words(flags.partners).map(asPlayer);
    const partners = typed.length === 1 ? Array.from({ length: seats - 1 }, () => typed[0]) : typed;
    if (partners.length !== seats - 1)
      throw new BadInput(
        told(
          `--partners lists ${partners.length}, but ${name} has ${seats - 1} other seats; give one for each, or one for all`,
          `--partners 列出了 ${partners.length} 个，而 ${name} 另有 ${seats - 1} 个位置；请每个位置给一个，或只给一个`,
        ),
      );
    const players = [`frozen ${flags.policy}`, ...partners];
    const origins = await readOrigins({ ...settings, players });
    const options = { worlds: flags.lives, episodes: flags.episodes, seed: flags.seed };
    const frozen = curveOf(playMatch(run.engine, settings, players, origins, options), flags.lives, flags.episodes);
    const learning = flags.learn ? await learn(run.engine, settings, partners, flags) : null;
    if (flags.svg !== undefined) await draw(flags.svg, name, frozen, learning);
    if (flags.json)
      print(
        JSON.stringify(
          { format: 'trueline/adapt/1', game: name, partners: typed, ...options, frozen, learning },
          null,
          2,
        ),
      );
    else print(text(name, flags, frozen, learning));
  } finally {
    run.engine.dispose();
  }
}

/** Every life is a training of its own, an episode at a time. */
async function learn(engine: Engine, settings: Settings, partners: readonly string[], flags: Flags): Promise<Curve> {
  const players = [`from ${flags.policy}`, ...partners];
  const origins = await readOrigins({ ...settings, players });
  const bar: Progress = progress(told('learning', '正在学习'));
  const returns: number[][] = Array.from({ length: flags.episodes }, () => []);
  for (let life = 0; life < flags.lives; life++) {
    const own = mergeSettings(settings as unknown as Record<string, unknown>, {
      players,
      seed: flags.seed * 1000 + life,
      worlds: 1,
      collect: 'episodes',
      rollout: 1,
      guard: 'off',
      probes: [],
      ppo: { minibatches: 1, anneal: false },
      recording: { record: 'off' },
    });
    const trainer = new Trainer(own, { engine, origins });
    for (const episode of returns) episode.push((await trainer.iterate()).returns[0].mean);
    bar.update(life + 1, flags.lives);
  }
  bar.stop();
  return returns.map(interval);
}

async function draw(file: string, name: string, frozen: Curve, learning: Curve | null): Promise<void> {
  const { bandPicture } = await import('../../report/charts/curves.ts');
  const band = (label: string, curve: Curve) => ({
    label,
    steps: curve.map((_, i) => i + 1),
    low: curve.map(({ mean, halfWidth }) => mean - halfWidth),
    middle: curve.map(({ mean }) => mean),
    high: curve.map(({ mean, halfWidth }) => mean + halfWidth),
  });
  const bands = [
    band(told('as it is', '保持不变'), frozen),
    ...(learning ? [band(told('learning', '继续学习'), learning)] : []),
  ];
  const title = told(`${name}: return by episode`, `${name}：各局的回报`);
  await writeWhole(file, [new TextEncoder().encode(await bandPicture(bands, title))]);
}

function text(name: string, flags: Flags, frozen: Curve, learning: Curve | null): string {
  const paint = style(wantsColour(process.stdout, process.env));
  const shown = ({ mean, halfWidth }: Curve[number]) => [number(mean), `+- ${number(halfWidth)}`];
  const every = Math.max(1, Math.ceil(frozen.length / 20));
  const rows = frozen.flatMap((one, i) =>
    i % every === 0 || i === frozen.length - 1
      ? [[number(i + 1), ...shown(one), ...(learning ? shown(learning[i]) : [])]]
      : [],
  );
  const head = [
    told('episode', '局'),
    told('as it is', '保持不变'),
    '95 %',
    ...(learning ? [told('learning', '继续学习'), '95 %'] : []),
  ];
  return [
    paint.bold(
      told(
        `${name}: return of ${flags.policy} beside ${flags.partners}, ${flags.lives} lives`,
        `${name}：${flags.policy} 在 ${flags.partners} 旁边的回报，${flags.lives} 次经历`,
      ),
    ),
    table(head.map(paint.dim), rows, ['right', 'right', 'left', 'right', 'left']),
  ].join('\n');
}
