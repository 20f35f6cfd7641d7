/** Numbers and times as people read them, in a terminal and in a page alike. */

/** Short and never misleading: 4 significant digits, thousands apart in whole numbers. */
export function number(value: number | undefined): string {
  if (value === undefined) return '';
  if (!Number.isFinite(value)) return String(value);
  // Not by toLocaleString: its first call reads the tables of every language, which a page that lists runs would wait for.
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e6 ? String(Number(value.toPrecision(4))) : value.toExponential(2);
}

/** 75 becomes "1:15", 3700 becomes "1:01:40". */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (part: number) => String(part).padStart(2, '0');
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}
