/** The one table of what HOP+'s modules say about themselves. Errors are measured on episodes that no module was trained on. */
import type { HopAgent, ModuleReport } from './agent.ts';

export interface ModuleReading {
  readonly name: string;
  readonly label: string;
  readonly meaning: string;
  /** Whether the live table shows it. */
  readonly live: boolean;
}

const reading = (name: string, label: string, meaning: string, live = false): ModuleReading => ({
  name,
  label,
  meaning,
  live,
});

export const moduleReadings: readonly ModuleReading[] = [
  reading('world_model.loss', 'world loss', 'sum of the losses of its networks, mean over the update', true),
  reading('world_model.error', 'world error', 'share of steps in which anything that imagination uses is wrong', true),
  reading('world_model.cells', 'cells', "share of steps in which a player's next cell is wrong"),
  reading(
    'world_model.catches',
    'catches',
    'of the steps in which something is caught, or is predicted to be: share in which who leaves or what is gone is wrong',
    true,
  ),
  reading('world_model.reward', 'reward', 'mean absolute error of the reward over players', true),
  reading('world_model.paid', 'paid', 'mean absolute error of the reward over players that are paid'),
  reading('world_model.masks', 'masks', 'share of steps in which a next legal mask is wrong'),
  reading('world_model.ends', 'ends', 'share of steps in which the end of the episode is wrong'),
  reading('imagination.length', 'imagines', 'steps of the next imagined rollouts', true),
  reading('imagination.rows', 'imagined rows', 'rows imagined in this iteration'),
  reading('other_agents.loss', 'others loss', 'cross-entropy, mean over the update', true),
  reading('other_agents.error', 'others error', 'cross-entropy of held-out choices', true),
  reading('other_agents.right', 'foreseen', 'share of held-out choices that were the likeliest', true),
  reading('other_agents.majority', 'majority', 'share that always naming the commonest action would get'),
  reading(
    'other_agents.best',
    'best possible',
    "the true policies' mean largest probability, which nobody can beat",
    true,
  ),
  reading('subgoal.prior_loss', 'prior loss', 'loss of the prior, in nats per state, mean over the update'),
  reading('subgoal.loss', 'subgoal loss', 'loss of the posterior, in nats per state, mean over the update', true),
  reading('subgoal.error', 'subgoal error', "nats to rebuild a held-out subgoal from the posterior's guess", true),
  reading('subgoal.error_prior', 'prior alone', 'nats to rebuild it from the prior alone', true),
  reading('subgoal.error_constant', 'constant', "nats to rebuild it from each entry's own frequency"),
  reading('subgoal.mix', 'mix', "the prior's share in the subgoal that the policy saw"),
];

/** NaN where a reading could not be taken. */
export function readingsOf(report: ModuleReport, hop: HopAgent, imagined: number): Record<string, number> {
  const readings: Record<string, number> = {};
  const { errors } = report;
  const put = (prefix: string, values: Record<string, number | undefined>) => {
    for (const [name, value] of Object.entries(values)) readings[`${prefix}.${name}`] = value ?? Number.NaN;
  };
  if (hop.worldModel) {
    const held = errors?.worldModel;
    put('world_model', { loss: report.worldModelLoss, error: held?.any, cells: held?.cells, catches: held?.catches });
    put('world_model', { reward: held?.reward, paid: held?.paid, masks: held?.masks, ends: held?.ends });
    put('imagination', { length: hop.length, rows: imagined });
  }
  if (hop.otherAgents) {
    const held = errors?.otherAgents;
    put('other_agents', { loss: report.otherAgentsLoss, error: held?.loss, right: held?.right });
    put('other_agents', { majority: held?.majority, best: held?.best });
  }
  if (hop.subgoals) {
    const held = errors?.subgoals;
    put('subgoal', { prior_loss: report.priorLoss, loss: report.posteriorLoss, mix: report.mix });
    put('subgoal', { error: held?.posterior, error_prior: held?.prior, error_constant: held?.constant });
  }
  return readings;
}
