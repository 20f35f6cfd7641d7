/** Agents of runs and scripted players by what is typed: a folder is a run, whose agent plays frozen; anything else is a scripted player, or words of a line-up. */
import { existsSync } from 'node:fs';
import { told } from '../../language/language.ts';
import { createEngine } from '../../net/engine.ts';
import type { Engine } from '../../net/types.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { decodeCheckpoint } from '../../training/checkpoint.ts';
import { isLearning } from '../../training/lineup/entry.ts';
import { latestCheckpoint } from '../../training/node.ts';
import type { Settings } from '../../training/settings.ts';

export function asPlayer(typed: string): string {
  if (isLearning(typed)) {
    if (/^\s*frozen\b/.test(typed)) return typed;
    throw new BadInput(
      told(
        `"${typed}" would learn, and nobody learns here; name the folder of a run, or a scripted player`,
        `"${typed}" 会学习，而这里没有人学习；请给出训练的文件夹或脚本玩家的名称`,
      ),
    );
  }
  return existsSync(typed.replace(/#[^/]*$/, '')) ? `frozen ${typed}` : typed;
}

/** How a run was trained, and an engine that computes as it did. */
export async function openRun(folder: string): Promise<{ settings: Settings; engine: Engine }> {
  const { settings, kernel } = decodeCheckpoint(await latestCheckpoint(folder));
  return { settings, engine: await createEngine({ kernel: kernel as Settings['kernel'] }) };
}
