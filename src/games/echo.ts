/** Echo: repeat the cue you saw some steps ago, chosen from a list that is drawn anew at every step. The right symbol's place in the list says nothing. */
import { z } from 'zod';
import { RandomStream } from '../math/random.ts';
import { IndependentSeats } from './independent.ts';

export const echoSettings = z
  .strictObject({
    seats: z.int().min(1).max(64).default(1).describe('How many seats play side by side, each for itself.'),
    symbols: z.int().min(2).max(256).default(6).describe('How many symbols there are; each is one global action.'),
    delay: z.int().min(0).max(16).default(2).describe('How many steps ago the cue to repeat was shown.'),
    length: z
      .int()
      .min(1)
      .max(1000)
      .default(12)
      .describe('Steps in an episode; the first `delay` of them pay nothing.'),
    fewest: z.int().min(1).max(256).default(2).describe('The fewest candidates that a step offers.'),
    most: z.int().min(1).max(256).default(5).describe('The most candidates that a step offers.'),
    illegal: z
      .number()
      .min(0)
      .max(1)
      .default(0.25)
      .describe('Chance that a candidate other than the right one is masked as illegal.'),
    features: z
      .enum(['one-hot', 'embedding', 'none'])
      .default('one-hot')
      .describe(
        'What a candidate is known by besides its id: the symbol as one-hot, a fixed random vector, or nothing.',
      ),
    dimensions: z
      .int()
      .min(1)
      .max(256)
      .default(8)
      .describe('Length of the random vectors when features are embeddings.'),
  })
  .refine((s) => s.fewest <= s.most && s.most <= s.symbols, {
    message: 'fewest must be at most most, and most at most symbols, because a step offers each symbol once',
  })
  .refine((s) => s.delay < s.length, { message: 'delay must be below length, or no step would pay' });
export type EchoSettings = z.infer<typeof echoSettings>;

/** Every step from the first that has a cue to repeat pays 1. */
export function echoOptimum(settings: EchoSettings): number {
  return settings.length - settings.delay;
}

/** Memory of a place: steps taken, then the cues of the last `delay + 1` steps, newest first, -1 where there was none yet. */
export class EchoGame extends IndependentSeats {
  private readonly own: EchoSettings;
  private readonly embedding: Float32Array;
  private readonly deck: Int32Array;

  constructor(settings: EchoSettings, worlds: number) {
    const { seats, symbols, delay, length, most } = settings;
    const features = settings.features === 'none' ? 0 : settings.features === 'one-hot' ? symbols : settings.dimensions;
    const observation = (delay + 1) * symbols + 1;
    const words = delay + 2;
    super(
      'echo',
      settings,
      { seats, observation, actions: symbols, candidates: most, features, horizon: length },
      worlds,
      words,
    );
    this.own = settings;
    this.deck = Int32Array.from({ length: symbols }, (_, symbol) => symbol);
    this.embedding = new Float32Array(symbols * features);
    // The vectors are part of the rules, so they come from a stream of their own name and not from an episode's.
    const stream = RandomStream.of(0, 'echo', 'embedding');
    for (let symbol = 0; symbol < symbols; symbol++) {
      for (let i = 0; i < features; i++) {
        this.embedding[symbol * features + i] =
          settings.features === 'one-hot' ? Number(i === symbol) : stream.normal();
      }
    }
  }

  protected begin(place: number, stream: RandomStream): void {
    const base = place * this.words;
    this.memory.fill(-1, base + 1, base + this.words);
    this.memory[base] = 0;
    this.offer(place, stream);
  }

  protected play(place: number, choice: number, stream: RandomStream): void {
    const base = place * this.words;
    const right = this.memory[base + 1 + this.own.delay];
    const chosen = this.subset[place * this.own.most + choice];
    this.reward[place] = chosen === right ? 1 : 0;
    const taken = ++this.memory[base];
    if (taken === this.own.length) this.terminated[place] = 1;
    this.offer(place, stream);
  }

  /** Shows a new cue and draws the list. Also after the last step, where only the observation is of use. */
  private offer(place: number, stream: RandomStream): void {
    const { symbols, delay, most, fewest, illegal, length } = this.own;
    const base = place * this.words;
    this.memory.copyWithin(base + 2, base + 1, base + 1 + delay);
    this.memory[base + 1] = stream.below(symbols);

    const seen = place * this.shape.observation;
    this.obs.fill(0, seen, seen + this.shape.observation);
    for (let ago = 0; ago <= delay; ago++) {
      const cue = this.memory[base + 1 + ago];
      if (cue >= 0) this.obs[seen + ago * symbols + cue] = 1;
    }
    this.obs[seen + this.shape.observation - 1] = this.memory[base] / length;

    // A deck in fixed order, or the draw would depend on what other places drew before.
    const deck = this.deck;
    for (let symbol = 0; symbol < symbols; symbol++) deck[symbol] = symbol;
    stream.shuffle(deck);
    const count = fewest + stream.below(most - fewest + 1);
    // Before there is a cue to repeat any symbol may stand for the one that must be there and legal.
    const cue = this.memory[base + 1 + delay];
    const wanted = cue >= 0 ? cue : deck[stream.below(count)];
    let at = 0;
    while (deck[at] !== wanted) at++;
    if (at >= count) {
      const slot = stream.below(count);
      deck[at] = deck[slot];
      deck[slot] = wanted;
    }
    const first = place * most;
    const width = this.shape.features;
    this.numActions[place] = count;
    for (let i = 0; i < most; i++) {
      const inUse = i < count;
      const symbol = inUse ? deck[i] : 0;
      this.subset[first + i] = symbol;
      this.legal[first + i] = inUse && (symbol === wanted || stream.uniform() >= illegal) ? 1 : 0;
      for (let f = 0; f < width; f++) {
        this.candidateFeatures[(first + i) * width + f] = inUse ? this.embedding[symbol * width + f] : 0;
      }
    }
  }
}
