/**
 * What the checks of language models look at: every response, and all tokens of some of them. A recording of any length leaves a bounded number of
 * rows here; responses are kept or left whole, chosen by their number alone, so that what a check finds does not depend on what it looks for.
 */
import { finishes, sources } from '../../recording/tables/token-columns.ts';
import { type TokenSettings, tokenSettings } from '../../recording/token-settings.ts';
import type { Iteration } from '../evidence/iteration.ts';
import type { Numbers, Rows } from '../evidence/rows.ts';
import type { Run } from '../evidence/run.ts';
import { source } from './codes.ts';
import {
  ofReplay,
  ofResponse,
  type ReplayColumn,
  type ResponseColumn,
  responseNames,
  type TokenColumn,
  taken,
  tokenNames,
  useNames,
} from './columns.ts';
import { Steps } from './steps.ts';
import { Table } from './table.ts';

const ofFirstUse = [
  ['first_logp', 'new_logp'],
  ['first_again', 'again_logp'],
  ['first_entropy', 'entropy'],
  ['first_fitted', 'fitted_logp'],
  ['first_temperature', 'temperature'],
] as const;
/** Rows of tokens and of their uses that are kept at most. */
const mostTokens = 240_000;
const mostUses = 480_000;

export class TokenEvidence {
  readonly settings: TokenSettings;
  readonly tokens = new Table<TokenColumn>(tokenNames);
  readonly responses = new Table<ResponseColumn>(responseNames);
  readonly uses = new Table<ReplayColumn>(useNames);
  readonly steps = new Steps();
  /** Of every response: its ids and log-probabilities, as one number. */
  private readonly prints = new Map<number, number>();
  private stride = 1;

  constructor(readonly run: Run) {
    this.settings = tokenSettings(run.manifest);
  }

  iteration(iteration: Iteration): void {
    const { samples } = iteration;
    const first = this.responses.rows;
    const byEpisode = new Map<number, number>();
    if (iteration.responses) this.takeResponses(iteration.responses, iteration.number, byEpisode);
    if (!samples) return;
    const episode = samples.column('episode')!;
    const owner = new Int32Array(samples.rows);
    let [latest, own] = [Number.NaN, -1];
    for (let i = 0; i < samples.rows; i++) {
      if (episode[i] !== latest) {
        latest = episode[i];
        own = byEpisode.get(latest) ?? this.addResponse(latest, iteration.number, byEpisode);
      }
      owner[i] = own;
    }
    const codes = sourceCodes(samples);
    const kept = this.takeTokens(samples, iteration.number, owner, codes, first);
    this.takeUses(iteration, owner, codes, kept);
    if (this.tokens.rows > mostTokens || this.uses.rows > mostUses) this.thin();
  }

  private addResponse(episode: number, iteration: number, byEpisode: Map<number, number>): number {
    const row = this.responses.push();
    this.responses.set('iteration', row, iteration);
    this.responses.set('episode', row, episode);
    for (const name of ['tokens', 'trained', 'coefs', 'parted', 'repeats'] as const) this.responses.set(name, row, 0);
    byEpisode.set(episode, row);
    return row;
  }

  private takeResponses(rows: Rows, iteration: number, byEpisode: Map<number, number>): void {
    const episode = rows.column('episode')!;
    const columns = ofResponse.flatMap((name) => {
      const values = rows.column(name);
      return values ? [{ name, values }] : [];
    });
    const ends = rows.texts('finish');
    for (let i = 0; i < rows.rows; i++) {
      const own = this.addResponse(episode[i], iteration, byEpisode);
      this.responses.set('row', own, i);
      for (const { name, values } of columns) this.responses.set(name, own, values[i]);
      const ended = ends ? (finishes as readonly string[]).indexOf(ends[i]) : -1;
      if (ended >= 0) this.responses.set('finish', own, ended);
    }
    this.compareIds(rows, byEpisode);
  }

  /** Sampled ids wait here until the trained ones of the same response are seen. */
  private sampled = new Map<number, ArrayLike<number>>();

  private compareIds(rows: Rows, byEpisode: Map<number, number>): void {
    const lists = rows.list('sampled');
    const episode = rows.column('episode')!;
    this.sampled = new Map();
    for (let i = 0; lists && i < rows.rows; i++)
      if (lists.offsets[i + 1] > lists.offsets[i])
        this.sampled.set(byEpisode.get(episode[i])!, lists.values.subarray(lists.offsets[i], lists.offsets[i + 1]));
  }

  private wanted(response: number): boolean {
    return ((this.responses.at('episode', response) * 2654435761) % 4294967296) % this.stride === 0;
  }

  private takeTokens(
    samples: Rows,
    iteration: number,
    owner: Int32Array,
    codes: Uint8Array,
    first: number,
  ): Int32Array {
    const kept = new Int32Array(samples.rows).fill(-1);
    const columns = taken.flatMap((name) => {
      const values = samples.column(name);
      return values ? [{ name, values }] : [];
    });
    const trained = samples.column('trained');
    const token = samples.column('token');
    const logp = samples.column('sampler_logp') ?? samples.column('old_logp');
    const tempered = samples.column('logp_tempered');
    const mass = samples.column('kept_mass');
    const { responses } = this;
    const [tokens, count, parted] = [
      responses.column('tokens'),
      responses.column('trained'),
      responses.column('parted'),
    ];
    const [from, to] = [responses.column('from'), responses.column('to')];
    const [answer, chance] = [responses.column('answer'), responses.column('answer_logp')];
    const place = new Map<number, { all: number; sampled: number; allParted: number; sampledParted: number }>();
    let print = 0;
    const close = (own: number) => {
      if (own < 0 || !logp || !token) return;
      const earlier = this.prints.get(print);
      if (earlier !== undefined && earlier !== iteration) responses.column('repeats')[own] = 1 + earlier;
      else this.prints.set(print, iteration);
    };
    for (let i = 0; i < samples.rows; i++) {
      const own = owner[i];
      if (i === 0 || own !== owner[i - 1]) {
        if (i > 0) close(owner[i - 1]);
        print = 17;
      }
      const inside = codes[i] !== source.prompt && codes[i] !== source.padding;
      if (inside) tokens[own]++;
      if (trained?.[i] === 1) count[own]++;
      if (token && inside) {
        answer[own] = (Math.imul(answer[own] || 1, 31) + token[i]) | 0;
        // As it was drawn: at the configured temperature, from the tokens that were kept. A sampler that lags draws from other weights than the trainer's, so that the likelier of both counts.
        const trainer = tempered ? tempered[i] : Number.NaN;
        const sampler = logp ? logp[i] : Number.NaN;
        const drawn = trainer > sampler || Number.isNaN(sampler) ? trainer : sampler;
        if (codes[i] === source.sampled && !Number.isNaN(drawn))
          chance[own] = (chance[own] || 0) + drawn - (mass ? Math.log(mass[i]) || 0 : 0);
      }
      if (token && inside) {
        const ids = this.sampled.get(own);
        if (ids) {
          const at = place.get(own) ?? { all: 0, sampled: 0, allParted: 0, sampledParted: 0 };
          place.set(own, at);
          if (at.allParted === 0 && ids[at.all] !== token[i]) at.allParted = at.all + 1;
          at.all++;
          if (codes[i] === source.sampled) {
            if (at.sampledParted === 0 && ids[at.sampled] !== token[i]) at.sampledParted = at.all;
            at.sampled++;
          }
        }
      }
      if (token && logp) print = Math.imul(print, 31) + Math.imul(token[i], 7919) + Math.round(1e6 * (logp[i] || 0));
      if (!this.wanted(own)) continue;
      const row = this.tokens.push();
      kept[i] = row;
      if (Number.isNaN(from[own])) from[own] = row;
      to[own] = row + 1;
      this.tokens.set('iteration', row, iteration);
      this.tokens.set('response', row, own);
      this.tokens.set('source', row, codes[i]);
      if (trained && trained[i] <= 1) this.tokens.set('trained', row, trained[i]);
      for (const { name, values } of columns) this.tokens.set(name, row, values[i]);
    }
    if (samples.rows > 0) close(owner[samples.rows - 1]);
    // The list holds the whole response, or only what the model itself said.
    for (const [own, ids] of this.sampled) {
      const at = place.get(own);
      if (!at || own < first) continue;
      const whole = at.allParted > 0 ? at.allParted : at.all === ids.length ? 0 : at.all + 1;
      const said = at.sampledParted > 0 ? at.sampledParted : at.sampled === ids.length ? 0 : at.all + 1;
      parted[own] = whole === 0 || said === 0 ? 0 : Math.max(whole, said);
    }
    return kept;
  }

  private takeUses(iteration: Iteration, owner: Int32Array, codes: Uint8Array, kept: Int32Array): void {
    const { replays, own } = iteration;
    const before = iteration.before;
    const sample = replays?.column('sample');
    if (!replays || !sample || !before) return;
    const column = (name: string): Numbers | null => replays.column(name);
    const [prompt, length, padding] = (['prompt_length', 'tokens', 'padding'] as const).map((name) =>
      this.responses.column(name),
    );
    const step = this.steps.take(iteration, owner, codes, (own) => prompt[own] + length[own] + padding[own]);
    const columns = ofReplay.flatMap((name) => {
      const values = column(name);
      return values ? [{ name, values }] : [];
    });
    const [coef, fresh, pack, micro, rank, epoch] = ['coef', 'new_logp', 'pack', 'micro_batch', 'rank', 'epoch'].map(
      column,
    );
    // What a token's first use, with the weights that sampled it, says of the token itself.
    const first = ofFirstUse.flatMap(([name, from]) => {
      const values = column(from);
      return values ? [{ name, values }] : [];
    });
    const coefs = this.responses.column('coefs');
    let leader = -1;
    for (let i = 0; i < replays.rows; i++) {
      if (own[i] !== 1) continue;
      const response = owner[sample[i]];
      if (coef && coef[i] !== 0 && !Number.isNaN(coef[i])) coefs[response]++;
      // Rows are in the order of the trainer's batch, so that a pack begins with its first response.
      if (pack && !(i > 0 && [pack, step, micro, rank].every((values) => values?.[i] === values?.[i - 1])))
        leader = response;
      const row = kept[sample[i]];
      if (row < 0) continue;
      const use = this.uses.push();
      this.uses.set('token', use, row);
      this.uses.set('step', use, step[i]);
      this.uses.set('before', use, before[i]);
      this.uses.set('epoch', use, epoch![i]);
      for (const { name, values } of columns) this.uses.set(name, use, values[i]);
      if (pack && Number.isNaN(this.tokens.at('leads_pack', row)))
        this.tokens.set('leads_pack', row, leader === response ? 1 : 0);
      if (before[i] !== 1 || !fresh) continue;
      for (const { name, values } of first) this.tokens.set(name, row, values[i]);
    }
  }

  private thin(): void {
    this.stride *= 2;
    const response = this.tokens.column('response');
    const moved = this.tokens.keep((row) => this.wanted(response[row]));
    const token = this.uses.column('token');
    for (let i = 0; i < token.length; i++) token[i] = moved[token[i]];
    this.uses.keep((row) => token[row] >= 0);
    const [from, to] = [this.responses.column('from'), this.responses.column('to')];
    from.fill(Number.NaN);
    const left = this.tokens.column('response');
    for (let row = 0; row < left.length; row++) {
      if (Number.isNaN(from[left[row]])) from[left[row]] = row;
      to[left[row]] = row + 1;
    }
  }

  private orders: Map<number, Int32Array> | null = null;

  /** Kept tokens of every kept response, in the order of t. */
  get byResponse(): ReadonlyMap<number, Int32Array> {
    if (this.orders) return this.orders;
    const lists = new Map<number, number[]>();
    const [response, t] = [this.tokens.column('response'), this.tokens.column('t')];
    for (let row = 0; row < response.length; row++) {
      const list = lists.get(response[row]);
      if (list) list.push(row);
      else lists.set(response[row], [row]);
    }
    this.orders = new Map();
    for (const [own, rows] of lists)
      this.orders.set(
        own,
        Int32Array.from(rows).sort((a, b) => t[a] - t[b]),
      );
    return this.orders;
  }

  /** A figure of a token's response. */
  ofResponse(name: ResponseColumn, token: number): number {
    return this.responses.column(name)[this.tokens.column('response')[token]];
  }
}

function sourceCodes(samples: Rows): Uint8Array {
  const codes = new Uint8Array(samples.rows);
  const texts = samples.texts('source');
  if (!texts) return codes;
  const index = new Map<string, number>(sources.map((name, i) => [name, i]));
  for (let i = 0; i < codes.length; i++) codes[i] = index.get(texts[i]) ?? 0;
  return codes;
}
