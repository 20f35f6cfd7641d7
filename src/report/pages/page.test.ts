import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { record, stored } from '../../../test/support/tables.ts';
import { causes } from '../../doctor/causes.ts';
import { diagnose } from '../../doctor/diagnose.ts';
import { Gatherer } from '../pictures/gather.ts';
import { PairStore, thinLine, thinPoints } from '../pictures/picture.ts';
import { printable, safeText } from '../safe-text.ts';
import { diagnosisPage } from './page.ts';
import { pageStyle } from './page-style.ts';

const hostile = '<img src=x onerror="alert(1)">\u001b[2J';

async function page(change: (made: Awaited<ReturnType<typeof stored>>) => void) {
  const made = await stored('advantage-time-shifted/advantage-late');
  change(made);
  const recording = await record(made);
  const gatherer = new Gatherer();
  const diagnosis = await diagnose(recording, { watch: gatherer.watch, prove: gatherer.prove });
  const pictures = await gatherer.finish(recording, diagnosis);
  const { manifest } = recording;
  return diagnosisPage({ diagnosis, pictures, name: `runs/${hostile}`, manifest, command: `trueline ${hostile}` });
}

const late = () => {};
/** Made once for all who only read it: its pictures take their time. */
let whole: Promise<string> | undefined;
const latePage = () => {
  whole ??= page(late);
  return whole;
};

describe('the page of a diagnosis', () => {
  it('says the verdict first, proves it with pictures, and gives the remedy as code', async () => {
    const html = await latePage();
    const at = (text: string) => {
      expect(html).toContain(text);
      return html.indexOf(text);
    };
    const entry = causes.find(({ id }) => id === 'advantage-time-shifted')!;
    const places = [
      at(`<h1>${safeText(entry.meaning)}</h1>`),
      at('What undoes it'),
      at('<svg role="img"'),
      at('What to change'),
      at(safeText(entry.pytorch)),
      at(safeText(entry.trueline!)),
      at('What was checked, and what could not be'),
      at('Made by <code>trueline'),
    ];
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it('refers to nothing outside of itself and holds no script', async () => {
    const html = await latePage();
    // What strangers wrote is text, so only marks and styles can refer to anything.
    const marks = [...html.matchAll(/<[^>]*>/g)].join('\n').replaceAll('xmlns="http://www.w3.org/2000/svg"', '');
    const found = /https?:|<script|<link|<iframe|<img|url\((?!#)|\son\w+=|\ssrc=|\shref=/i.exec(marks);
    expect(found?.[0]).toBeUndefined();
    expect(pageStyle).not.toMatch(/url\(|@import/);
    expect(html).toContain("default-src 'none'");
  });

  it('shows hostile names as text', async () => {
    const html = await page((made) => {
      made.manifest.name = hostile;
      for (const list of [made.manifest.agents!, made.manifest.policies!])
        for (const item of list) item.name = `${hostile}${item.name}`;
    });
    expect(html.includes('<img')).toBe(false);
    expect(html.includes('\u001b')).toBe(false);
    expect(html).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;');
  });

  it('is the same text for the same recording', async () => {
    const [one, other] = [await latePage(), await page(late)];
    expect(one === other).toBe(true);
  });

  it('has names of its own in every drawing', async () => {
    const ids = [...(await latePage()).matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
    expect(ids.length).toBeGreaterThan(10);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has a contrast of 4.5 for texts and 3 for marks, in light and in dark', () => {
    const schemes = [...pageStyle.matchAll(/:root\{([^}]*)\}/g)].map(([, text]) =>
      Object.fromEntries([...text.matchAll(/--(\w+):(#[0-9a-f]{3,6})/g)].map(([, name, value]) => [name, value])),
    );
    expect(schemes.length).toBe(3);
    const luminance = (hex: string) => {
      const long = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit).join('') : hex.slice(1);
      const [r, g, b] = [0, 2, 4].map((at) => {
        const share = Number.parseInt(long.slice(at, at + 2), 16) / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (a: string, b: string) => {
      const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
      return (high + 0.05) / (low + 0.05);
    };
    for (const colours of schemes) {
      for (const text of ['ink', 'soft', 'good', 'bad', 'open', 'link'])
        for (const ground of ['ground', 'card']) expect(contrast(colours[text], colours[ground])).toBeGreaterThan(4.5);
      expect(contrast(colours.ink, colours.code)).toBeGreaterThan(4.5);
      for (const mark of ['c1', 'c2', 'c3', 'c4', 'c5'])
        expect(contrast(colours[mark], colours.card)).toBeGreaterThan(3);
    }
  });
});

describe('texts made safe', () => {
  it('hold no markup and no control character, whatever they were', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(safeText(text)).not.toMatch(/[<>"']/);
        expect(printable(text)).not.toMatch(/[^\P{Cc}\n\t]/u);
        expect(safeText(text)).not.toMatch(/[^\P{Cc}\n\t]/u);
      }),
      { seed: 5, numRuns: 300 },
    );
  });
});

describe('thinning', () => {
  const pairs = fc.array(fc.tuple(fc.double({ noNaN: false }), fc.double({ noNaN: true })), { maxLength: 400 });

  it('keeps the extremes of both axes, keeps to its limit, and invents nothing', () => {
    fc.assert(
      fc.property(pairs, fc.integer({ min: 8, max: 40 }), (list, limit) => {
        const finite = list.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
        const thin = thinPoints(
          list.map(([x]) => x),
          list.map(([, y]) => y),
          limit,
        );
        expect(thin.x.length).toBeLessThanOrEqual(Math.max(limit, 0));
        expect(thin.x.length).toBe(Math.min(finite.length, thin.x.length));
        const known = new Set(finite.map(([x, y]) => `${x} ${y}`));
        thin.x.forEach((x, i) => {
          expect(known.has(`${x} ${thin.y[i]}`)).toBe(true);
        });
        if (finite.length === 0) return;
        for (const [k, column] of [thin.x, thin.y].entries()) {
          expect(Math.max(...column)).toBe(Math.max(...finite.map((pair) => pair[k])));
          expect(Math.min(...column)).toBe(Math.min(...finite.map((pair) => pair[k])));
        }
      }),
      { seed: 6, numRuns: 200 },
    );
  });

  it('keeps a spike of a long line', () => {
    const y = Array.from({ length: 10_000 }, (_, i) => (i === 7777 ? 50 : Math.sin(i)));
    const thin = thinLine(
      y.map((_, i) => i),
      y,
      100,
    );
    expect(thin.x.length).toBeLessThanOrEqual(100);
    expect(thin.x[thin.y.indexOf(50)]).toBe(7777);
  });

  it('keeps pairs at even steps however many there are', () => {
    const store = new PairStore(64);
    for (let i = 0; i < 10_000; i++) store.add(i, -i);
    expect(store.total).toBe(10_000);
    expect(store.x.length).toBeLessThanOrEqual(64);
    const steps = new Set(store.x.slice(1).map((x, i) => x - store.x[i]));
    expect(steps.size).toBe(1);
    expect(store.x[0]).toBe(0);
  });
});
