import { describe, expect, it } from 'vitest';
import { givenSettings } from './settings.ts';

describe('--without', () => {
  it('speaks of the modules of the algorithm that plays, of the run or of a seat', async () => {
    expect(await givenSettings({ set: [], algorithm: 'hop', without: 'subgoals' })).toMatchObject({
      hop: { without: ['subgoals'] },
    });
    expect(await givenSettings({ set: ['algorithm=hop-planner'], without: 'beliefs' })).toMatchObject({
      planner: { without: ['beliefs'] },
    });
    const players = 'hop-planner,ppo,ppo,random';
    expect(await givenSettings({ set: [], players, without: 'none' })).toMatchObject({ planner: { without: [] } });
  });

  it('is refused where nobody has modules, and where two algorithms have', async () => {
    await expect(givenSettings({ set: [], algorithm: 'ppo', without: 'subgoals' })).rejects.toThrow(
      /nobody here is one of them; add --algorithm hop/,
    );
    await expect(givenSettings({ set: [], players: 'hop,hop-planner', without: 'models' })).rejects.toThrow(
      /hop or hop-planner, and both play here; say it seat by seat/,
    );
  });
});
