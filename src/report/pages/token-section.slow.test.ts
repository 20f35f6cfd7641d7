import { describe, expect, it } from 'vitest';
import { tokenRun } from '../../../test/support/tokens/run.ts';
import { diagnose } from '../../doctor/diagnose.ts';
import { Gatherer } from '../pictures/gather.ts';
import type { Lines } from '../pictures/picture.ts';
import { diagnosisPage } from './page.ts';

async function drawn(options: Parameters<typeof tokenRun>[0], decode?: (id: number) => string | undefined) {
  const recording = await tokenRun(options);
  const gatherer = new Gatherer();
  const diagnosis = await diagnose(recording, {
    watch: gatherer.watch,
    prove: gatherer.prove,
    tokens: gatherer.tokens,
  });
  const pictures = await gatherer.finish(recording, diagnosis);
  const page = await diagnosisPage({
    diagnosis,
    pictures,
    name: 'run',
    manifest: recording.manifest,
    command: 'trueline diagnose run',
    ...(decode ? { decode } : {}),
  });
  return { pictures, page };
}

const nine = (pictures: Lines[], id: string) => pictures.find((picture) => picture.id === id)!.lines[1].y;

describe('the reading of a language model', () => {
  it('shows a healthy run under its floor', async () => {
    const { pictures } = await drawn({ noise: 0.01, settings: { precision: { trainer: 'bf16', sampler: 'bf16' } } });
    const { floor, ratios, worst } = pictures.tokens!;
    expect(floor.measured).toBe(true);
    expect(ratios.share.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1);
    expect(ratios.floor!.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1);
    expect(Math.max(...nine(pictures.run as Lines[], 'token-places'))).toBeLessThan(3 * floor.q90);
    expect(worst).toHaveLength(3);
  });

  it('shows by which figure disagreement grows, and names the picture of its cause', async () => {
    const { pictures } = await drawn({ samplerPadding: true });
    const [proof] = pictures.proofs;
    expect([proof.cause, proof.pictures[0].id]).toEqual(['positions-shifted', 'token-sampler-padding']);
    const rising = nine(proof.pictures as Lines[], 'token-sampler-padding');
    expect(rising[0]).toBeLessThan(1e-4);
    expect(rising.at(-1)!).toBeGreaterThan(0.1);
  });

  it('colours tokens by disagreement and by the loss, with numbers on hover; text only where it can be told', async () => {
    const { page, pictures } = await drawn({ samplerPadding: true }, (id) => (id === 3 ? '<b>' : undefined));
    const { tokens } = pictures.tokens!.worst[0];
    const own = tokens.find(({ source, gap }) => source === 'sampled' && Math.abs(gap) > 0.1)!;
    expect(page).toContain(`token ${own.token} at ${own.t}, sampler `);
    expect(page).toContain('background:color-mix(');
    expect(page).toContain('blue raises the token');
    expect(page).toContain('&lt;b&gt;</span>');
    expect(page).not.toContain('<b></span>');
    expect(page).toMatch(/class="other"/);
  });
});
