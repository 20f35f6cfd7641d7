import { describe, expect, it } from 'vitest';
import { rungsOf } from './rungs.ts';

const labels = (of: Parameters<typeof rungsOf>[0]) => rungsOf(of).map(({ label }) => label[0]);

describe('the ablation ladder', () => {
  it('is one rung where nothing can be left out', () => {
    expect(rungsOf({ algorithm: 'ppo' })).toEqual([{ label: ['ppo', 'ppo'], settings: null }]);
    expect(labels({ algorithm: 'hop', players: ['ppo', 'random', 'frozen runs/hop', 'mappo'] })).toEqual(['hop']);
  });

  it("has a planner's beliefs, models and search as rungs, each blamed for what it brings", () => {
    const rungs = rungsOf({ algorithm: 'hop-planner' });
    expect(rungs.map(({ settings }) => settings)).toEqual([
      null,
      { planner: { without: ['beliefs'] } },
      { planner: { without: ['beliefs', 'models'] } },
      { planner: { without: ['planner', 'beliefs', 'models'] } },
    ]);
    expect(rungs.map(({ blames }) => blames?.[0])).toEqual([
      'other-agent-model-bias',
      'other-agent-model-bias',
      undefined,
      undefined,
    ]);
  });

  it('leaves out what the seats of a line-up have, and keeps what a seat leaves out itself', () => {
    const players = ['hop-planner', 'hop-planner without models with ppo.clip=0.1', 'ppo', 'random'];
    const rungs = rungsOf({ algorithm: 'ppo', players });
    expect(rungs.map(({ label }) => label[0])).toEqual([
      'full',
      'without beliefs',
      'without models of the others too',
      'without the planner, plain ppo',
    ]);
    expect(rungs[1].settings).toEqual({
      planner: { without: ['beliefs'] },
      players: ['hop-planner', 'hop-planner without models+beliefs with ppo.clip=0.1', 'ppo', 'random'],
    });
  });

  it('goes through one algorithm after the other where both play', () => {
    const rungs = rungsOf({ algorithm: 'ppo', players: ['hop-planner', 'hop', 'ppo', 'ppo'] });
    expect(rungs.length).toBe(7);
    expect(rungs[6]).toMatchObject({
      label: ['hop plain ppo', 'hop 纯 PPO'],
      settings: {
        planner: { without: ['planner', 'beliefs', 'models'] },
        hop: { without: ['world-model', 'subgoals', 'other-agents'] },
      },
    });
  });
});
