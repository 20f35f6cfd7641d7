/** CartPole-v1: balance a pole on a cart, Euler steps of 20 ms. Falling is a termination, reaching the horizon a truncation. */
import { z } from 'zod';
import type { RandomStream } from '../math/random.ts';
import { IndependentSeats } from './independent.ts';

export const cartpoleSettings = z.strictObject({
  seats: z.int().min(1).max(64).default(1).describe('How many carts there are, each for itself.'),
  horizon: z.int().min(1).max(100_000).default(500).describe('Steps after which the episode is truncated.'),
});
export type CartPoleSettings = z.infer<typeof cartpoleSettings>;

const gravity = 9.8;
const poleMass = 0.1;
const totalMass = 1 + poleMass;
const halfLength = 0.5;
const force = 10;
const seconds = 0.02;
const furthest = 2.4;
const steepest = (12 * Math.PI) / 180;

/** Memory of a place: position, speed, angle, angular speed, steps taken. */
const words = 5;

export class CartPole extends IndependentSeats {
  private readonly steps: number;

  constructor(settings: CartPoleSettings, worlds: number) {
    const { seats, horizon } = settings;
    super(
      'cartpole',
      settings,
      { seats, observation: 4, actions: 2, candidates: 2, features: 0, horizon },
      worlds,
      words,
    );
    this.steps = horizon;
  }

  protected begin(place: number, stream: RandomStream): void {
    for (let i = 0; i < 4; i++) this.memory[place * words + i] = stream.uniform() * 0.1 - 0.05;
    this.show(place);
  }

  protected play(place: number, choice: number): void {
    const m = this.memory;
    const base = place * words;
    const speed = m[base + 1];
    const angle = m[base + 2];
    const spin = m[base + 3];
    const push = choice === 1 ? force : -force;
    const cosine = Math.cos(angle);
    const sine = Math.sin(angle);
    const common = (push + poleMass * halfLength * spin * spin * sine) / totalMass;
    const spinGain =
      (gravity * sine - cosine * common) / (halfLength * (4 / 3 - (poleMass * cosine * cosine) / totalMass));
    const gain = common - (poleMass * halfLength * spinGain * cosine) / totalMass;
    m[base] += seconds * speed;
    m[base + 1] = speed + seconds * gain;
    m[base + 2] = angle + seconds * spin;
    m[base + 3] = spin + seconds * spinGain;
    m[base + 4]++;
    this.reward[place] = 1;
    if (Math.abs(m[base]) > furthest || Math.abs(m[base + 2]) > steepest) this.terminated[place] = 1;
    else if (m[base + 4] >= this.steps) this.truncated[place] = 1;
    this.show(place);
  }

  private show(place: number): void {
    for (let i = 0; i < 4; i++) this.obs[place * 4 + i] = this.memory[place * words + i];
  }
}
