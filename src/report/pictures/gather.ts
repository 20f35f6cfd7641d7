/** From a recording and its diagnosis to pictures. Curves are gathered while the doctor reads; proofs are the rows that its checks kept. */
import { causeById } from '../../doctor/causes.ts';
import type { Cause, Diagnosis } from '../../doctor/diagnosis.ts';
import { Iteration } from '../../doctor/evidence/iteration.ts';
import { iterations } from '../../doctor/evidence/reading/stream.ts';
import { Run } from '../../doctor/evidence/run.ts';
import type { Proof } from '../../doctor/proof.ts';
import type { TokenEvidence } from '../../doctor/tokens/evidence.ts';
import { type TokenReading, tokenReading } from '../../doctor/tokens/reading.ts';
import { type RewardsOverTime, rewardsOverTime } from '../../doctor/tokens/rewards-over-time.ts';
import type { Recording } from '../../recording/recording.ts';
import { Curves } from './curves.ts';
import type { Pictures } from './picture.ts';
import { ReadingsWatch } from './readings.ts';
import { entropyPicture, klPicture, reportedPictures, rolePictures } from './run-pictures.ts';
import { proofPicture, ratioPicture } from './scatter.ts';
import { rewardsPicture, tokenPictures } from './tokens.ts';

/** Hands `watch` and `prove` to the doctor; `finish` then makes the pictures of its diagnosis. */
export class Gatherer {
  private readonly curves = new Curves();
  private readonly readings = new ReadingsWatch();
  private readonly proved = new Map<string, Proof>();

  readonly watch = (iteration: Iteration): void => {
    this.curves.watch(iteration);
    this.readings.watch(iteration);
  };

  readonly prove = (cause: string, proof: Proof): void => {
    this.proved.set(cause, proof);
  };

  private tokenReading: TokenReading | null = null;
  private rewards: RewardsOverTime | null = null;

  readonly tokens = (evidence: TokenEvidence): void => {
    this.tokenReading = tokenReading(evidence);
    this.rewards = rewardsOverTime(evidence);
  };

  async finish(recording: Recording, diagnosis: Diagnosis): Promise<Pictures> {
    const run = new Run(recording.manifest);
    const { curves } = this;
    const affected = affectedPolicies(run, diagnosis.causes[0]);
    const general = [
      this.rewards ? rewardsPicture(this.rewards) : null,
      ...(this.tokenReading ? tokenPictures(this.tokenReading) : []),
      klPicture(curves, affected),
      entropyPicture(curves, run),
      ...rolePictures(curves, affected),
    ].filter((picture) => picture !== null);
    const reported = reportedPictures(curves);
    const proofs = diagnosis.causes.slice(0, 4).flatMap((cause) => {
      const proof = this.proved.get(cause.id);
      const pictures =
        proof && proof.target.length > 1
          ? [proofPicture(proof, cause.id)]
          : pictureFor(cause, [...general, ...reported]);
      return pictures.length > 0 ? [{ cause: cause.id, pictures }] : [];
    });
    const shown = new Set(proofs.flatMap(({ pictures }) => pictures.map(({ id }) => id)));
    const plain = diagnosis.causes.length === 0 || proofs.length === 0 ? await this.plainRatio(recording) : [];
    return {
      proofs,
      run: [...plain, ...general, ...reported].filter(({ id }) => !shown.has(id)),
      readings: this.readings.finish(run, curves),
      ...(this.tokenReading ? { tokens: this.tokenReading } : {}),
    };
  }

  /** Without a transform to undo: how log-ratio and advantage go together in the first iteration that tells. */
  private async plainRatio(recording: Recording): Promise<Pictures['run']> {
    const run = new Run(recording.manifest);
    for await (const slice of iterations(recording)) {
      if (slice.number > patience) return [];
      const picture = ratioPicture(new Iteration(run, slice));
      if (picture) return [picture];
    }
    return [];
  }
}

/** So many iterations may pass before log-ratio and advantage are drawn without rows. */
const patience = 12;

/** Policies that a cause is about, where it is about some and not all. */
function affectedPolicies(run: Run, cause: Cause | undefined): Set<number> | null {
  if (!cause || cause.agents.length === 0 || cause.agents.length >= run.agents.length) return null;
  const policies = new Set(cause.agents.map((name) => run.policyOf(run.agents.indexOf(name))));
  return policies.size > 0 && policies.size < run.policies.length && !policies.has(-1) ? policies : null;
}

/** The picture that the cause's folder names, where no rows prove it. */
function pictureFor(cause: Cause, pictures: Pictures['run']): Pictures['run'] {
  const wanted = causeById(cause.id)?.pictures ?? [];
  return wanted.flatMap((id) => pictures.filter((picture) => picture.id === id)).slice(0, 1);
}
