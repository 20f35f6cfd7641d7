/** Generalised advantage estimation. Bootstraps at a truncation and at the end of a rollout, never across a termination. */

type Numbers = { [index: number]: number };

/** The columns that credit reads and writes; a batch has them. */
export interface CreditColumns {
  readonly rows: number;
  readonly episode: Numbers;
  readonly agent: Numbers;
  readonly reward: Numbers;
  readonly value: Numbers;
  readonly nextValue: Numbers;
  readonly terminated: Numbers;
  readonly truncated: Numbers;
  readonly advantage: Numbers;
  readonly return: Numbers;
}

/**
 * Fills `advantage` and `return` from `reward`, `value`, `nextValue` and the ends. Rows must be sorted by (episode, t, agent). A row's
 * successor is the same agent's next row of the same episode; where there is none the row bootstraps its own `nextValue`, or 0 if it terminated.
 */
export function assignCredit(batch: CreditColumns, gamma: number, lambda: number): void {
  const { rows, episode, agent, reward, value, nextValue, terminated, truncated, advantage } = batch;
  const returns = batch.return;
  let agents = 0;
  for (let i = 0; i < rows; i++) if (agent[i] >= agents) agents = agent[i] + 1;
  // What the row after this one handed back, per agent; an agent that has no later row in the episode has none.
  const laterEpisode = new Int32Array(agents).fill(-1);
  const laterAdvantage = new Float64Array(agents);
  const laterValue = new Float64Array(agents);
  for (let i = rows - 1; i >= 0; i--) {
    const who = agent[i];
    const ended = terminated[i] === 1 || truncated[i] === 1;
    let carried = 0;
    let next = 0;
    if (!ended && laterEpisode[who] === episode[i]) {
      carried = laterAdvantage[who];
      next = laterValue[who];
    } else if (terminated[i] === 0) next = nextValue[i];
    const delta = reward[i] + gamma * next - value[i];
    const credit = delta + gamma * lambda * carried;
    advantage[i] = credit;
    returns[i] = credit + value[i];
    laterEpisode[who] = episode[i];
    laterAdvantage[who] = credit;
    laterValue[who] = value[i];
  }
}
