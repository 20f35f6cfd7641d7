/** Deliberate diagnostic changes. A probe is never a way to train: it holds for a few updates, and every step it touches is recorded with its name. */
import { z } from 'zod';
import type { PpoSettings } from '../../algorithms/ppo/settings.ts';

const when = {
  from: z.number().int().min(0).default(0).describe('The first iteration in which the probe holds.'),
  updates: z.number().int().min(1).default(5).describe('For how many updates it holds.'),
};

export const probeSchema = z.discriminatedUnion('probe', [
  z
    .strictObject({ probe: z.literal('temperature'), value: z.number().positive().default(0.5), ...when })
    .describe(
      'Divides the logits of the update, and not those of sampling, by a temperature: the ratio leaves 1 before any step if the update really uses them.',
    ),
  z
    .strictObject({ probe: z.literal('advantage-scale'), value: z.number().positive().default(2), ...when })
    .describe(
      'Multiplies the normalised advantages: the KL must rise with it if the policy gradient reaches the parameters.',
    ),
  z
    .strictObject({ probe: z.literal('entropy-off'), ...when })
    .describe('Takes the entropy bonus away: entropy must fall if the bonus was what held it up.'),
  z
    .strictObject({ probe: z.literal('big-step'), ...when })
    .describe(
      'A rough preset that must move the KL: 4 epochs, clip 0.2, entropy 0.005, gradient limit 0.5, no KL stop, and learning rates of at least 1e-4 that are searched from update to update until the KL after one lies between 0.01 and 0.03.',
    ),
  z
    .strictObject({ probe: z.literal('reinitialise-head'), value: z.number().positive().default(0.5), ...when })
    .describe(
      'Draws the policy head anew, once, with a larger gain: logits must become uneven if nothing squashes them.',
    ),
  z
    .strictObject({ probe: z.literal('head-learning-rate'), value: z.number().positive().default(3e-3), ...when })
    .describe('Gives the policy head a learning rate of its own.'),
]);

export type Probe = z.output<typeof probeSchema>;

/** What the probes of one iteration make of the settings. */
export interface ProbedUpdate {
  ppo: PpoSettings;
  /** Divides the logits in the loss; rows were sampled at their own temperature. */
  temperature: number;
  advantageScale: number;
  /** Gain with which the head is drawn anew before this update. */
  reinitialiseHead: number | null;
  /** The KL after an update that the learning rate is searched for; null where none is. */
  searchKl: readonly [number, number] | null;
  /** Whether a search ended with the update before: rates are as they were set again. */
  searched: boolean;
  /** The names in force, joined by +; empty where there is none. */
  name: string;
}

export function applyProbes(ppo: PpoSettings, probes: readonly Probe[], iteration: number): ProbedUpdate {
  const probed: ProbedUpdate = {
    ppo,
    temperature: 1,
    advantageScale: 1,
    reinitialiseHead: null,
    searchKl: null,
    searched: probes.some(({ probe, from, updates }) => probe === 'big-step' && iteration === from + updates),
    name: '',
  };
  const names: string[] = [];
  for (const probe of probes) {
    if (iteration < probe.from || iteration >= probe.from + probe.updates) continue;
    names.push(probe.probe);
    switch (probe.probe) {
      case 'temperature':
        probed.temperature = probe.value;
        break;
      case 'advantage-scale':
        probed.advantageScale = probe.value;
        break;
      case 'entropy-off':
        probed.ppo = { ...probed.ppo, entropyCoefficient: 0 };
        break;
      case 'big-step':
        probed.ppo = bigStep(probed.ppo);
        probed.searchKl = visibleKl;
        break;
      case 'reinitialise-head':
        if (iteration === probe.from) probed.reinitialiseHead = probe.value;
        break;
      case 'head-learning-rate':
        probed.ppo = { ...probed.ppo, headLearningRate: probe.value };
        break;
    }
  }
  probed.name = names.join('+');
  return probed;
}

/** What the steps of a run that learns well usually move. */
const visibleKl = [0.01, 0.03] as const;

function bigStep(ppo: PpoSettings): PpoSettings {
  const atLeast = (rate: number | null) => (rate === null ? null : Math.max(rate, 1e-4));
  return {
    ...ppo,
    learningRate: Math.max(ppo.learningRate, 1e-4),
    headLearningRate: atLeast(ppo.headLearningRate),
    epochs: 4,
    clip: 0.2,
    entropyCoefficient: 0.005,
    maxGradNorm: 0.5,
    targetKl: null,
    adaptiveKl: null,
  };
}
