/** From a recording and its diagnosis to pictures. Curves are gathered while the doctor reads; proofs read on from the beginning only as far as the iteration that shows the cause. */
import type { Cause, Diagnosis } from '../../doctor/diagnosis.ts';
import { Iteration } from '../../doctor/iteration.ts';
import { type Proof, prove } from '../../doctor/proof.ts';
import { recomputedAdvantages, referenceAdvantages } from '../../doctor/proof-credit.ts';
import { Run } from '../../doctor/run.ts';
import { iterations } from '../../doctor/stream.ts';
import type { Recording } from '../../recording/recording.ts';
import { Curves } from './curves.ts';
import type { Pictures } from './picture.ts';
import { ReadingsWatch } from './readings.ts';
import { entropyPicture, klPicture, reportedPictures, rolePictures } from './run-pictures.ts';
import { proofPicture, ratioPicture } from './scatter.ts';

/** Hands `watch` to the doctor; `finish` then makes the pictures of its diagnosis. */
export class Gatherer {
  private readonly curves = new Curves();
  private readonly readings = new ReadingsWatch();

  readonly watch = (iteration: Iteration): void => {
    this.curves.watch(iteration);
    this.readings.watch(iteration);
  };

  async finish(recording: Recording, diagnosis: Diagnosis): Promise<Pictures> {
    const run = new Run(recording.manifest);
    const { curves } = this;
    const affected = affectedPolicies(run, diagnosis.causes[0]);
    const proofs = await this.proofs(recording, diagnosis.causes);
    const general = [
      klPicture(curves, affected),
      entropyPicture(curves, run),
      ...rolePictures(curves, affected),
    ].filter((picture) => picture !== null);
    const reported = reportedPictures(curves);
    const lead = diagnosis.causes[0];
    if (lead && proofs.length === 0) {
      const telling = pictureFor(lead, [...general, ...reported]);
      if (telling.length > 0) proofs.push({ cause: lead.id, pictures: telling });
    }
    const shown = new Set(proofs.flatMap(({ pictures }) => pictures.map(({ id }) => id)));
    const plain = diagnosis.causes.length === 0 || proofs.length === 0 ? await this.plainRatio(recording) : [];
    return {
      proofs,
      run: [...plain, ...general, ...reported].filter(({ id }) => !shown.has(id)),
      readings: this.readings.finish(run, curves),
    };
  }

  private async proofs(recording: Recording, causes: readonly Cause[]): Promise<Pictures['proofs']> {
    const open = causes.slice(0, 4).filter(({ evidence }) => evidence.length > 0);
    const found: Pictures['proofs'] = [];
    const run = new Run(recording.manifest);
    let earlier: ArrayLike<number> | null = null;
    const latest = Math.max(-1, ...open.map(({ onset }) => onset)) + patience;
    for await (const slice of iterations(recording)) {
      if (open.length === 0 || slice.number > latest) break;
      const iteration = new Iteration(run, slice);
      for (const cause of [...open]) {
        if (cause.onset > slice.number) continue;
        const proof = prove(iteration, cause, earlier);
        if (!proof || proof.target.length < 2 || !disagrees(proof)) continue;
        open.splice(open.indexOf(cause), 1);
        const ratio = ratioPicture(iteration, proof, cause.id);
        const pictures = [proofPicture(proof, cause.id, slice.number), ...(ratio ? [ratio] : [])];
        found.push({ cause: cause.id, pictures });
      }
      earlier = recomputedAdvantages(iteration) ?? referenceAdvantages(iteration);
    }
    const order = causes.map(({ id }) => id);
    return found.sort((a, b) => order.indexOf(a.cause) - order.indexOf(b.cause));
  }

  /** Without a transform to undo: how log-ratio and advantage go together in the first iteration that tells. */
  private async plainRatio(recording: Recording): Promise<Pictures['run']> {
    const run = new Run(recording.manifest);
    for await (const slice of iterations(recording)) {
      if (slice.number > patience) return [];
      const picture = ratioPicture(new Iteration(run, slice), null, '');
      if (picture) return [picture];
    }
    return [];
  }
}

/** So many iterations after its onset a cause must show in rows, or it is drawn without them. */
const patience = 12;

/** An iteration in which the fault has not begun yet proves nothing. */
function disagrees({ target, before }: Proof): boolean {
  const size = target.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  let different = 0;
  for (let i = 0; i < target.length; i++)
    if (Math.abs(target[i] - before[i]) > 1e-4 * Math.max(1e-3, size)) different++;
  return different >= 2;
}

/** Policies that a cause is about, where it is about some and not all. */
function affectedPolicies(run: Run, cause: Cause | undefined): Set<number> | null {
  if (!cause || cause.agents.length === 0 || cause.agents.length >= run.agents.length) return null;
  const policies = new Set(cause.agents.map((name) => run.policyOf(run.agents.indexOf(name))));
  return policies.size > 0 && policies.size < run.policies.length && !policies.has(-1) ? policies : null;
}

const telling: Record<string, readonly string[]> = {
  wiring: ['gradients', 'changes'],
  'head-gradient': ['gradients', 'changes'],
  parameters: ['changes', 'kl'],
  movement: ['kl', 'changes'],
  'kl-guard': ['kl'],
  loss: ['reported-policy_loss'],
  'whole-loss': ['entropy'],
  direction: ['reported-policy_loss'],
  'value-share': ['gradients', 'changes'],
  inputs: ['gradients', 'entropy'],
  network: ['entropy'],
  metrics: ['reported-approx_kl', 'reported-clip_fraction', 'reported-entropy', 'kl'],
  finite: ['kl'],
};

function pictureFor(cause: Cause, pictures: Pictures['run']): Pictures['run'] {
  const wanted =
    cause.id === 'kl-estimator-cancels' ? ['kl'] : cause.evidence.flatMap(({ check }) => telling[check] ?? []);
  return wanted.flatMap((id) => pictures.filter((picture) => picture.id === id)).slice(0, 2);
}
