/** For tests: a cause, the rows that prove it, its picture, the terminal and the page tell one story. Every number is computed here once more, from the arrays alone. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'vitest';
import { diagnose } from '../../src/doctor/diagnose.ts';
import { type Cause, type Diagnosis, figure } from '../../src/doctor/diagnosis.ts';
import type { Proof } from '../../src/doctor/proof.ts';
import type { Manifest } from '../../src/recording/manifest.ts';
import type { Recording } from '../../src/recording/recording.ts';
import { diagnosisText } from '../../src/report/diagnosis.ts';
import { number } from '../../src/report/number.ts';
import { diagnosisPage } from '../../src/report/pages/page.ts';
import { Gatherer } from '../../src/report/pictures/gather.ts';
import type { Picture, Pictures } from '../../src/report/pictures/picture.ts';
import { style } from '../../src/report/style.ts';

export interface Examined {
  diagnosis: Diagnosis;
  manifest: Manifest;
  proofs: Map<string, Proof>;
  pictures: Pictures;
}

export async function examine(recording: Recording): Promise<Examined> {
  const gatherer = new Gatherer();
  const proofs = new Map<string, Proof>();
  const prove = (cause: string, proof: Proof) => {
    proofs.set(cause, proof);
    gatherer.prove(cause, proof);
  };
  const diagnosis = await diagnose(recording, { watch: gatherer.watch, prove });
  return { diagnosis, manifest: recording.manifest, proofs, pictures: await gatherer.finish(recording, diagnosis) };
}

/** Nothing undoes noise. */
const withoutNumbers = new Set(['second-pass']);

/** Lists and hidden states are recognised as such; without the logits, or the network, of the update they cannot be scored again. */
const byList = new Set(['list-of', 'own-list', 'prefix', 'old-logp', 'state-of']);

function middle(proof: Proof, side: 'before' | 'after'): number {
  const gaps = [...proof.target]
    .map((value, i) => Math.abs(value - proof[side][i]))
    .filter((gap) => !Number.isNaN(gap));
  gaps.sort((a, b) => a - b);
  return (gaps[(gaps.length - 1) >> 1] + gaps[gaps.length >> 1]) / 2;
}

const texts = (picture: Picture) =>
  picture.kind === 'scatter' ? picture.panels.map(({ note }) => note) : picture.lines.map(({ name }) => name);

/** Whether the cause was proved by numbers before and after its transform. */
export function provesWhatItSays(cause: Cause, { proofs, pictures }: Examined): boolean {
  const { transform } = cause;
  if (!transform || withoutNumbers.has(transform.id)) return false;
  const proof = proofs.get(cause.id);
  expect(proof, `${cause.id}: ${transform.id} has a proof`).toBeDefined();
  const before = middle(proof!, 'before');
  const after = middle(proof!, 'after');
  if (Number.isNaN(after) && byList.has(transform.id)) {
    expect(before).toBeGreaterThan(0);
    expect(cause.residual_after).toBeUndefined();
    return false;
  }
  expect(after, cause.id).toBeLessThan(before);
  expect(cause.residual_before).toBeCloseTo(Number(figure(before)), 9);
  expect(cause.residual_after).toBeCloseTo(Number(figure(after)), 9);
  const drawn = pictures.proofs.find((shown) => shown.cause === cause.id)?.pictures ?? [];
  // Only the first causes are drawn, and one number is no picture.
  if (drawn.length > 0 && proof!.target.length > 1) {
    expect(drawn.length).toBe(1);
    const [left, right] = texts(drawn[0]);
    expect(left).toContain(`median distance ${number(before)} over`);
    expect(right).toContain(`median distance ${number(after)} over`);
  }
  return true;
}

/** The terminal and the page show the numbers of the verdict; the studio has no numbers but those of the same function. */
export async function shownAlike(cause: Cause, { diagnosis, manifest }: Examined): Promise<void> {
  const values = [cause.residual_before, cause.residual_after].map((value) => number(value));
  const terminal = diagnosisText({ ...diagnosis, causes: [cause] }, style(false));
  const bars = Array.from(terminal.matchAll(/^ {5}(?:before|after) +█* (\S+)$/gm), ([, value]) => value);
  expect(bars, 'terminal').toEqual(values);
  const page = await diagnosisPage({
    diagnosis: { ...diagnosis, causes: [cause] },
    pictures: { proofs: [], run: [], readings: [] },
    name: 'run',
    manifest,
    command: '',
  });
  const shown = Array.from(
    page.matchAll(/<i class="(?:before|after)"[^>]*><\/i><\/span><span>([^<]*)</g),
    ([, value]) => value,
  );
  expect(shown, 'page').toEqual(values);
  const card = readFileSync(resolve(import.meta.dirname, '../../studio/src/components/CauseCard.svelte'), 'utf8');
  expect(card).toContain('residualBars(cause)');
  expect(card).not.toContain('residual_');
}
