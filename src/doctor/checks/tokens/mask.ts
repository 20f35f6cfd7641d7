/** Are the tokens trained that the model sampled, and no others? A mask that one shift makes right is shifted; only what is left is padding, or the environment's. */
import type { Finding } from '../../diagnosis.ts';
import { percent } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import { finish, source } from '../../tokens/codes.ts';
import type { TokenEvidence } from '../../tokens/evidence.ts';
import { type Looked, tokenCheck, tokenFinding } from '../../tokens/token-check.ts';
import { LeftOut } from '../../transforms/rows/left-out.ts';
import { TokenShift } from '../../transforms/tokens/token-shift.ts';

const check = 'token-mask';

export const mask = tokenCheck({
  id: check,
  group: 'gradient',
  question: ['Are the tokens trained that the model sampled, and no others?', '训练的是否正是模型采样的词元？'],
  needs: [['samples.source'], ['samples.trained', 'replays.coef']],
  causes: ['loss-mask-shifted', 'environment-tokens-trained', 'padding-trained', 'truncated-response-rewarded'],
  look,
});

interface Masked {
  response: number;
  /** By t: what is trained, and what should be. */
  at: number[];
  trained: boolean[];
  sampled: boolean[];
  origin: number[];
}

function look(evidence: TokenEvidence): Looked {
  const { responses, settings } = evidence;
  const all = masks(evidence);
  const cut = responses.column('finish');
  const rows = all.reduce((sum, { at }) => sum + at.length, 0);
  if (rows === 0) return { rows: 0 };
  const findings: Finding[] = [];
  const remarks: Looked['remarks'] = [];
  const iteration = responses.column('iteration');
  const onsetOf = (list: readonly Masked[]) => Math.min(...list.map(({ response }) => iteration[response]));
  if (settings.truncated === 'mask') {
    const rewarded = all.filter(({ response }) => cut[response] === finish.length);
    const cutRows = rewarded.reduce((sum, { trained }) => sum + trained.filter(Boolean).length, 0);
    if (cutRows >= limits.fewestRows.value)
      findings.push(
        tokenFinding({
          cause: 'truncated-response-rewarded',
          check,
          rows: cutRows,
          share: 1,
          onset: onsetOf(rewarded),
          transform: new LeftOut(),
          summary: `Answers cut by the length limit are trained (${cutRows} tokens), although the settings mask them`,
        }),
      );
  }
  // A response of which nothing is trained was left out on purpose, or is not in this part of the recording.
  const used = all.filter(({ trained }) => trained.some(Boolean));
  const wrong = used.filter(({ trained, sampled }) => trained.some((value, i) => value !== sampled[i]));
  const measured = { responses: used.length, responses_off: wrong.length };
  if (wrong.length < Math.max(2, limits.noticedShare.value * used.length)) return { rows, measured, findings, remarks };
  const off = wrong.reduce(
    (sum, { trained, sampled }) => sum + trained.filter((value, i) => value !== sampled[i]).length,
    0,
  );
  const onset = onsetOf(wrong);
  const shift = oneShift(wrong);
  if (shift !== undefined) {
    findings.push(
      tokenFinding({
        cause: 'loss-mask-shifted',
        check,
        rows: off,
        share: 1,
        onset,
        transform: new TokenShift('mask', shift),
        summary: `The loss mask of ${wrong.length} of ${used.length} responses is that of the sampled tokens, some places off`,
      }),
    );
    return { rows, measured, findings, remarks };
  }
  const extra = (kinds: readonly number[]) =>
    wrong.reduce(
      (sum, { trained, sampled, origin }) =>
        sum + trained.filter((value, i) => value && !sampled[i] && kinds.includes(origin[i])).length,
      0,
    );
  const [padding, foreign] = [extra([source.padding]), extra([source.environment, source.template, source.prompt])];
  const missing = wrong.reduce(
    (sum, { trained, sampled }) => sum + trained.filter((value, i) => !value && sampled[i]).length,
    0,
  );
  if (padding >= limits.fewestRows.value)
    findings.push(
      tokenFinding({
        cause: 'padding-trained',
        check,
        rows: padding,
        share: padding / Math.max(padding, off - foreign),
        onset,
        transform: new LeftOut(),
        summary: `${padding} padding tokens enter the loss`,
      }),
    );
  if (foreign >= limits.fewestRows.value)
    findings.push(
      tokenFinding({
        cause: 'environment-tokens-trained',
        check,
        rows: foreign,
        share: foreign / Math.max(foreign, off - padding),
        onset,
        transform: new LeftOut(),
        summary: `${foreign} tokens that the model did not sample (tool, user, template or prompt) enter the loss, ${percent(foreign / rows)} of all`,
      }),
    );
  const left = missing >= limits.noticedShare.value * rows && missing > padding + foreign;
  return {
    rows,
    measured,
    findings,
    remarks,
    ...(findings.length === 0 || left ? { open: { rows: off - padding - foreign, onset } } : {}),
  };
}

function masks(evidence: TokenEvidence): Masked[] {
  const { tokens, uses, responses } = evidence;
  const [flag, origin, t, owner] = [
    tokens.column('trained'),
    tokens.column('source'),
    tokens.column('t'),
    tokens.column('response'),
  ];
  const pushed = new Uint8Array(tokens.rows);
  const [token, coef] = [uses.column('token'), uses.column('coef')];
  for (let i = 0; i < uses.rows; i++) {
    if (!(Math.abs(coef[i]) > 0)) continue;
    pushed[token[i]] = 1;
  }
  const out: Masked[] = [];
  for (const [response, rows] of evidence.byResponse) {
    const known = rows.some((row) => !Number.isNaN(flag[row]));
    // Without a flag, a response whose advantage is 0 shows nothing.
    if (!known && !(responses.column('coefs')[response] > 0)) continue;
    const list = [...rows];
    out.push({
      response: owner[rows[0]],
      at: list.map((row) => t[row]),
      trained: list.map((row) =>
        known ? flag[row] === 1 || (pushed[row] === 1 && origin[row] !== source.sampled) : pushed[row] === 1,
      ),
      sampled: list.map((row) => origin[row] === source.sampled),
      origin: list.map((row) => origin[row]),
    });
  }
  return out;
}

/** The one shift that makes every mask right; null where each response has its own, undefined where there is none. */
function oneShift(wrong: readonly Masked[]): number | null | undefined {
  const shifts = wrong.map(shiftsOf);
  const common = shifts[0]?.filter((shift) => shifts.every((list) => list.includes(shift))) ?? [];
  if (common.length > 0) return common.reduce((best, shift) => (Math.abs(shift) < Math.abs(best) ? shift : best));
  const own = shifts.filter((list) => list.length > 0).length;
  return own === shifts.length &&
    wrong.every(({ trained, origin }) => trained.some((value, i) => value && origin[i] !== source.environment))
    ? null
    : undefined;
}

function shiftsOf({ at, trained, sampled }: Masked): number[] {
  const wanted = at.filter((_, i) => sampled[i]);
  const found = at.filter((_, i) => trained[i]);
  if (wanted.length === 0 || found.length === 0) return [];
  const there = new Set(at);
  const rowsOf = new Set(found);
  // The last places may lie beyond the rows that there are.
  return [found[0] - wanted[0], found[found.length - 1] - wanted[wanted.length - 1]].filter((shift, i, list) => {
    if (shift === 0 || list.indexOf(shift) !== i) return false;
    const moved = wanted.map((place) => place + shift);
    const inside = moved.filter((place) => there.has(place));
    return (
      inside.length === found.length &&
      inside.every((place) => rowsOf.has(place)) &&
      inside.length >= wanted.length - Math.abs(shift)
    );
  });
}
