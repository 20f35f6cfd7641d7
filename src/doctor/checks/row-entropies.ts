/** The entropy that each row's loss was given, against that of the distribution its action was scored by: where a mask is in force, an entropy without it pays for choices that nobody can take. */
import { told } from '../../language/language.ts';
import { budgets } from '../budgets.ts';
import { confidence, fewestRows } from '../check.ts';
import type { Finding } from '../diagnosis.ts';
import type { Iteration } from '../evidence/iteration.ts';
import { ProofStore } from '../found.ts';
import { limits } from '../limits.ts';
import { Distribution } from '../pairing/scoring.ts';
import { updateScores } from '../pairing/update-scores.ts';
import { Mask } from '../transforms/replay/mask.ts';

export class RowEntropies {
  private told = 0;
  private unmasked = 0;
  private onset = Number.POSITIVE_INFINITY;
  private readonly agents = new Set<number>();
  private readonly proof = new ProofStore();

  see(iteration: Iteration): void {
    const { replays, samples, own } = iteration;
    const entropy = replays?.column('entropy');
    const scores = replays && entropy ? updateScores(iteration) : null;
    if (!replays || !samples || !entropy || !scores?.logits) return;
    const [sample, fresh, weight] = [
      replays.column('sample')!,
      replays.measured('new_logp')!,
      replays.column('weight'),
    ];
    const [action, agent] = [samples.column('action'), samples.column('agent')!];
    const [masked, bare] = [new Distribution(), new Distribution()];
    const stride = Math.max(1, Math.floor(replays.rows / budgets.networkRows));
    const same = (a: number, b: number) => Math.abs(a - b) <= limits.sameEntropy.value;
    const found: { target: number[]; before: number[]; after: number[] } = { target: [], before: [], after: [] };
    for (let i = 0; i < replays.rows; i += stride) {
      if (own[i] === 0 || weight?.[i] === 0 || !action || !Number.isFinite(entropy[i])) continue;
      masked.of(scores, i, scores.temperatureOf(i), true);
      // The mask is in force where the score of the action shows it.
      if (!(Math.abs(masked.logp(action[sample[i]]) - fresh[i]) < limits.logp.value)) continue;
      bare.of(scores, i, scores.temperatureOf(i), false);
      if (!(Math.abs(masked.entropy - bare.entropy) > limits.entropySlack.value)) continue;
      this.told++;
      if (!same(entropy[i], bare.entropy) || same(entropy[i], masked.entropy)) continue;
      this.unmasked++;
      this.onset = Math.min(this.onset, iteration.number);
      this.agents.add(agent[sample[i]]);
      found.target.push(entropy[i]);
      found.before.push(masked.entropy);
      found.after.push(bare.entropy);
    }
    const column = (list: number[]) => Float64Array.from(list);
    if (found.target.length > 0)
      this.proof.rows(iteration.number, column(found.target), column(found.before), column(found.after));
  }

  findings(): Finding[] {
    const { told: rows, unmasked } = this;
    if (unmasked < fewestRows || unmasked < limits.nearlyAll.value * rows) return [];
    const transform = new Mask('none');
    return [
      {
        cause: 'entropy-of-another-distribution',
        confidence: confidence(unmasked / rows, unmasked),
        agents: [...this.agents].sort((a, b) => a - b),
        onset: this.onset,
        rows: unmasked,
        transform,
        ...this.proof.prove('entropy', 'in the loss', 'of the distribution that scored the action', transform),
        told: true,
        summary: told(
          `The entropy in the loss is that of the logits without the mask on ${unmasked} of ${rows} rows that tell, while log-probabilities have it.`,
          `在能说明的 ${rows} 行中有 ${unmasked} 行，损失中的熵来自未加掩码的 logits，而对数概率用了掩码。`,
        ),
        evidence: [{ check: 'metrics', measured: { rows, unmasked }, expected: { unmasked: 0 } }],
      },
    ];
  }
}
