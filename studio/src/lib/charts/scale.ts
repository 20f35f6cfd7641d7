/** Axes: ticks that are never told twice, whole numbers short, and a range that means the same moments when the axis changes. */
import type { Curve } from '../../../../src/report/studio/curves.ts';
import { type Axis, placesOf } from '../../../../src/report/studio/summary.ts';

/** Texts for ticks, with as many digits as their distance asks for. */
export function tickTexts(ticks: readonly (number | null)[], step: number): string[] {
  const greatest = Math.max(...ticks.map((tick) => Math.abs(tick ?? 0)));
  const [unit, name] =
    greatest >= 1e9 ? [1e9, 'G'] : greatest >= 1e6 ? [1e6, 'M'] : greatest >= 1e4 ? [1e3, 'k'] : [1, ''];
  let digits = step > 0 ? Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9)) : 3;
  // A step of a quarter needs one digit more than a tenth.
  if (step > 0 && Math.abs((step / unit) * 10 ** digits - Math.round((step / unit) * 10 ** digits)) > 1e-6) digits++;
  const small = greatest > 0 && greatest < 1e-3;
  return ticks.map((tick) => {
    if (tick === null) return '';
    if (tick === 0) return '0';
    if (small) return tick.toExponential(Math.max(0, Math.floor(Math.log10(greatest / step) + 1e-9)));
    return `${(tick / unit).toFixed(Math.min(digits, 6))}${name}`;
  });
}

/** Ticks of a logarithmic axis: one for each power of ten. */
export function powerText(tick: number | null): string {
  if (tick === null || !Number.isFinite(tick)) return '';
  if (tick === 0) return '0';
  const power = Math.log10(Math.abs(tick));
  if (Math.abs(power - Math.round(power)) > 1e-9) return '';
  return Math.abs(power) < 4 ? String(Number(tick.toPrecision(3))) : tick.toExponential(0);
}

/** Where a place of one axis lies on another, by the curve that has the most points; between two points on the straight line. */
export function translate(curves: readonly Curve[], from: Axis, to: Axis, place: number): number {
  let best: Curve | undefined;
  for (const curve of curves)
    if (
      placesOf(curve, from).some(Number.isFinite) &&
      placesOf(curve, to).some(Number.isFinite) &&
      curve.value.length > (best?.value.length ?? 1)
    )
      best = curve;
  if (!best) return Number.NaN;
  const [a, b] = [placesOf(best, from), placesOf(best, to)];
  let at = 0;
  while (at < a.length - 2 && a[at + 1] < place) at++;
  const span = a[at + 1] - a[at];
  const share = span === 0 ? 0 : (place - a[at]) / span;
  return b[at] + share * (b[at + 1] - b[at]);
}

/** A stretch of an axis as the address holds it. */
export function parseRange(text: string): [number, number] | undefined {
  const [from, to, more] = text.split('~').map(Number);
  return more === undefined && Number.isFinite(from) && Number.isFinite(to) && from < to ? [from, to] : undefined;
}

export function rangeText(range: readonly [number, number] | undefined): string {
  return range ? range.map((value) => String(Number(value.toPrecision(12)))).join('~') : '';
}
