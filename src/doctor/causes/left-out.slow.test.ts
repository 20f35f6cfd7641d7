import { expect, it } from 'vitest';
import { record, stored } from '../../../test/support/tables.ts';
import { diagnose } from '../diagnose.ts';

/** Columns without which a question that decides cannot be asked. This run moves so little that only its gradients show where it goes. */
const deciding = ['samples.reward', 'samples.value', 'samples.terminated', 'samples.advantage', 'tensors.grad_norm'];

it('a diagnosis names no cause when any one optional column is missing, and is healthy unless a question cannot be asked', async () => {
  const made = await stored('healthy/echo-1');
  const keys = new Set('iteration episode t agent old_logp epoch minibatch sample new_logp tensor policy'.split(' '));
  for (const [table, columns] of Object.entries(made.tables))
    for (const name of Object.keys(columns)) {
      if (keys.has(name) && !(table === 'replays' && name === 'old_logp')) continue;
      const without = `${table}.${name}`;
      const { verdict, causes } = await diagnose(await record(made, { without: [without] }));
      expect({ without, verdict, causes }).toEqual({
        without,
        verdict: deciding.includes(without) ? 'not-enough-evidence' : 'healthy',
        causes: [],
      });
    }
});
