/** One transform tried on rows of a replay: which rows it explains, and what it makes of them. */
import type { Match, Trial } from '../../pairing/cover.ts';
import type { ReplayRow, ReplayRows, ReplayTransform } from '../../transforms/replay/replay-rows.ts';

export const blank = (tried: readonly ReplayRow[]): Trial => ({
  match: new Uint8Array(tried.length),
  target: Float64Array.from(tried, ({ fresh }) => fresh),
  before: Float64Array.from(tried, ({ used }) => used),
  after: new Float64Array(tried.length).fill(Number.NaN),
});

export function tryOne(rows: ReplayRows, tried: readonly ReplayRow[], transform: ReplayTransform): Trial {
  const trial = { ...blank(tried), transform };
  if (transform.explains === 'old') [trial.target, trial.before] = [trial.before, trial.target];
  let explained = 0;
  tried.forEach((row, i) => {
    rows.at(row);
    const odd = transform.explains === 'old' ? rows.oldIsOdd : transform.explains === 'either' || rows.newIsOdd;
    const match = odd ? (transform.match?.(rows) ?? matchByScore(rows, transform)) : 0;
    trial.match[i] = match;
    if (match === 2) explained++;
  });
  // Columns are worked out only for what may become a finding.
  if (explained > 0)
    tried.forEach((row, i) => {
      trial.after[i] = scoreOf(rows.at(row), transform);
    });
  return trial;
}

function matchByScore(rows: ReplayRows, transform: ReplayTransform): Match {
  const target = transform.explains === 'old' ? rows.row.used : rows.row.fresh;
  if (transform.explains === 'old' ? !rows.freshIsOwn : !rows.canScore) return 0;
  return rows.agrees(scoreOf(rows, transform), target) ? 2 : 0;
}

function scoreOf(rows: ReplayRows, transform: ReplayTransform): number {
  if (transform.score) return transform.score(rows);
  const view = rows.base.logits && rows.row.action >= 0 ? transform.alter?.(rows.view, rows) : null;
  return view ? rows.score(view) : Number.NaN;
}
