import { describe, expect, it } from 'vitest';
import { openStored, storedNames } from '../../../test/support/tables.ts';
import { causeById, causes } from '../causes.ts';
import { checks } from '../checks/index.ts';
import { diagnose } from '../diagnose.ts';
import type { Diagnosis } from '../diagnosis.ts';
import { transforms } from '../transforms/index.ts';

const told = new Map<string, Diagnosis>();
/** Checks of language models, and what they alone can name, are tried in ../tokens. */
const own = checks.filter(({ of }) => of !== 'tokens');
const named = new Set(own.flatMap((check) => check.causes));
const faulty = storedNames.filter((name) => !name.startsWith('healthy/'));

describe('on a small stored run, the doctor', () => {
  it.each(storedNames.filter((name) => name.startsWith('healthy/')))('calls healthy: %s', async (name) => {
    const { verdict, causes: found, unexplained } = await diagnose(await openStored(name));
    expect({ verdict, found, unexplained }).toEqual({ verdict: 'healthy', found: [], unexplained: [] });
  });

  it.each(faulty)('names the cause first: %s', async (name) => {
    const diagnosis = await diagnose(await openStored(name));
    told.set(name, diagnosis);
    const [cause] = name.split('/');
    expect([...diagnosis.causes, ...diagnosis.remarks][0]?.id).toBe(cause);
    expect(diagnosis.verdict).toBe(
      causeById(cause)?.group === 'E' && diagnosis.causes.length === 0 ? 'healthy' : 'faulty',
    );
  });

  it('has one for every cause of groups A to E', () => {
    // Micro-batches are made in src/doctor/programs; no game of the zoo gathers gradients.
    const shown = new Set([...faulty.map((name) => name.split('/')[0]), 'loss-normaliser-wrong']);
    expect(
      causes.filter(({ id, group }) => group !== 'F' && named.has(id) && !shown.has(id)).map(({ id }) => id),
    ).toEqual([]);
  });

  it('has one in which each check fails, but for that of snapshots, which needs a runtime, and two that are tried on rows made for them', () => {
    const failing = new Set(
      [...told.values()].flatMap((diagnosis) =>
        diagnosis.checks.filter(({ status }) => status === 'fail').map(({ id }) => id),
      ),
    );
    expect(own.map(({ id }) => id).filter((id) => !failing.has(id))).toEqual(['drawn', 'policy-replay', 'value-loss']);
  });

  it('has one for every transform, but for those listed here', () => {
    const used = new Set(
      [...told.values()].flatMap(({ causes: found }) => found.map(({ transform }) => transform?.id)),
    );
    const unused = Object.keys(transforms)
      .filter((id) => !used.has(id))
      .sort();
    expect(unused).toEqual(
      [
        // Remarks carry no transform.
        'metric-form',
        'smoothed',
        // Needs a runtime for ONNX.
        'snapshot',
        // Two faults at once, which the zoo's runs are not.
        'composed',
        // No small run of the zoo is explained by these alone.
        'absolute',
        'affine-values',
        'clamped',
        'cut-formula',
        'ends-by-kind',
        'ends-found',
        'gathered',
        'in-place-of',
        'loss-clip',
        'other-action',
        'own-list',
        'policy-of-iteration',
        'positive-part',
        'scored-with',
        'team-mean',
        'value-beside',
        'value-formula',
        // Of language models.
        'baseline-over',
        'column-for',
        'grows-with',
        'loss-term',
        'normaliser',
        'token-shift',
      ].sort(),
    );
  });
});
