/** What an investigation of symmetry would run, without running it. */
import { makeGame } from '../../games/index.ts';
import { told } from '../../language/language.ts';
import { makePlan } from '../../symmetry/plan.ts';
import { rungsOf } from '../../symmetry/rungs.ts';
import { stageIds, stageTitle } from '../../symmetry/stage.ts';
import { asBadInput } from '../common/options.ts';

export function symmetryPlan({ game, algorithm, quick }: { game: string; algorithm: string; quick: boolean }): object {
  const { seats } = made(game).shape;
  const { seeds, steps, auditSteps, episodes } = makePlan(seats, { quick });
  const options = [...(algorithm === 'ppo' ? [] : [`--algorithm ${algorithm}`]), ...(quick ? ['--quick'] : [])];
  return {
    game,
    agents: seats,
    seeds,
    steps_of_a_run: steps,
    audit_steps: auditSteps,
    random_episodes: episodes,
    stages: stageIds.map(stageTitle),
    rungs: rungsOf({ algorithm }).map(({ label }) => told(...label)),
    command: ['trueline symmetry', game, ...options, '--html symmetry.html'].join(' '),
  };
}

function made(game: string) {
  try {
    return makeGame(game);
  } catch (error) {
    throw asBadInput(error);
  }
}
