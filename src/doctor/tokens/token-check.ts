/** A check of language models: it looks at the gathered evidence once, when all iterations have been read. */
import type { Pair } from '../../language/language.ts';
import type { Check, Group } from '../check.ts';
import { confidence } from '../check.ts';
import { type Figures, type Finding, leaving, type Outcome, type Remark } from '../diagnosis.ts';
import { limits } from '../limits.ts';
import { type Proof, residual } from '../proof.ts';
import type { Transform } from '../transforms/transform.ts';
import type { TokenEvidence } from './evidence.ts';

export interface TokenCheck {
  id: string;
  group: Group;
  question: Pair;
  needs: Check['needs'];
  causes: readonly string[];
  look(evidence: TokenEvidence): Looked;
}

export interface Looked {
  rows: number;
  measured?: Figures;
  expected?: Figures;
  findings?: Finding[];
  remarks?: Remark[];
  /** Rows that disagree and that nothing accounts for. */
  open?: { rows: number; onset: number };
  note?: string;
}

export function tokenCheck({ look, ...check }: TokenCheck): Check {
  return {
    ...check,
    of: 'tokens',
    start: (run) => ({
      iteration: () => undefined,
      finish: () => outcome(look(run.tokens!)),
    }),
  };
}

function outcome({ rows, measured = {}, expected = {}, findings = [], remarks = [], open, note }: Looked): Outcome {
  const shared = { measured: { rows, ...measured }, expected, findings, remarks, ...(note ? { note } : {}) };
  if (rows === 0) return { ...shared, status: 'not-checked', note: note ?? 'no row tells' };
  const left = open && open.rows > 0 ? { ...open, share: Math.min(1, open.rows / rows), agents: [] } : null;
  const certain = findings.some((finding) => finding.confidence >= limits.sure.value);
  if (certain || left) return { ...shared, status: 'fail', ...(left ? { open: left } : {}) };
  const [doubted] = findings;
  if (!doubted) return { ...shared, status: 'pass' };
  return {
    ...shared,
    status: 'warn',
    open: { ...leaving(doubted.rows, rows), onset: doubted.onset, agents: doubted.agents },
  };
}

/** Rows of tokens that disagree, with what they should have been and what the transform makes of it. */
export interface Shown {
  quantity: string;
  target: string;
  before: string;
  iteration?: number;
  columns: { target: number[]; before: number[]; after: number[] };
}

const mostShown = 1200;

export interface FindingParts {
  cause: string;
  check: string;
  rows: number;
  share: number;
  onset: number;
  summary: string;
  transform?: Transform;
  shown?: Shown;
  measured?: Figures;
  expected?: Figures;
}

export function tokenFinding({
  cause,
  check,
  rows,
  share,
  onset,
  summary,
  transform,
  shown,
  measured = {},
  expected = {},
}: FindingParts): Finding {
  const proof = shown && transform ? proofOf(shown, transform) : null;
  return {
    cause,
    confidence: confidence(share, rows),
    agents: [],
    onset,
    rows,
    ...(transform ? { transform } : {}),
    ...(proof ? { proof, before: residual(proof, 'before'), after: residual(proof, 'after') } : {}),
    summary: transform ? `${summary}: ${transform.describe()}.` : `${summary}.`,
    evidence: [{ check, measured: { rows, ...measured }, expected }],
  };
}

function proofOf({ quantity, target, before, iteration = 0, columns }: Shown, transform: Transform): Proof {
  const every = Math.max(1, Math.ceil(columns.target.length / mostShown));
  const thin = (values: readonly number[]) => Float64Array.from(values.filter((_, i) => i % every === 0));
  return {
    quantity,
    labels: { target, before, after: transform.describe() },
    point: 'row',
    iteration,
    target: thin(columns.target),
    before: thin(columns.before),
    after: thin(columns.after),
  };
}
