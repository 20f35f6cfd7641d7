/** The city: two companies take turns building. A turn is a sequence of picks, each with its own list, ended by STOP; money is paid when it flows, so a pick's worth comes months later. */
import type { RandomStream } from '../../math/random.ts';
import { GameArrays, SavedNumbers, saveBlock } from '../arrays.ts';
import type { Game, GameColumn } from '../game.ts';
import {
  assess,
  assessStop,
  CandidateFigures,
  candidateFeatures,
  describe,
  describeStop,
  price,
} from './candidates.ts';
import { DecisionColumns } from './columns.ts';
import { footprints } from './map.ts';
import { observationNames, observe, stateNames } from './observe.ts';
import * as rules from './rules.ts';
import { parcels } from './rules.ts';
import { CityWorlds } from './world.ts';

/** Global ids: `variant * 144 + top-left parcel`. IND's variants are small, medium lying, medium upright, large; EDU's small, medium, large lying, large upright. */
export const stopAction = 4 * parcels;

/** Which list of footprints a size is drawn from: 0 singles, 1 pairs, 2 squares. */
const groupOf = [
  [0, 1, 2],
  [0, 0, 1],
] as const;

export class City extends GameArrays implements Game {
  readonly city: CityWorlds;
  readonly figures: CandidateFigures;
  /** The company whose turn it is, per world, and whether it is the month's last turn. */
  readonly turn: Uint8Array;
  readonly lastTurn: Uint8Array;
  /** Placements made in this turn, per world. */
  readonly picks: Int32Array;
  readonly extras: readonly GameColumn[];
  showing = true;
  private readonly columns: DecisionColumns;
  private readonly decided: Uint8Array;
  private readonly owed: Float64Array;
  private readonly sequenceScore: Float64Array;
  private readonly streams: (RandomStream | undefined)[];
  private readonly flow = new Float64Array(2);

  constructor(
    readonly name: string,
    readonly settings: rules.CitySettings,
    worlds: number,
  ) {
    super(
      {
        seats: 2,
        roles: rules.companies,
        observation: observationNames.length,
        state: stateNames.length,
        actions: stopAction + 1,
        candidates: settings.placements + 1,
        features: candidateFeatures.length,
        horizon: settings.months + parcels,
      },
      worlds,
    );
    this.city = new CityWorlds(settings, worlds);
    this.figures = new CandidateFigures(worlds * 2 * (settings.placements + 1));
    this.turn = new Uint8Array(worlds);
    this.lastTurn = new Uint8Array(worlds);
    this.picks = new Int32Array(worlds);
    this.decided = new Uint8Array(worlds * 2);
    this.owed = new Float64Array(worlds * 2);
    this.sequenceScore = new Float64Array(worlds * 2);
    this.streams = new Array(worlds);
    this.columns = new DecisionColumns(worlds * 2);
    this.extras = this.columns.all;
  }

  reset(world: number, stream: RandomStream): void {
    this.streams[world] = stream;
    this.city.begin(world, stream);
    for (const array of [
      this.reward,
      this.terminated,
      this.truncated,
      this.decided,
      this.owed,
      this.sequenceScore,
      this.acting,
    ]) {
      array.fill(0, world * 2, world * 2 + 2);
    }
    this.over[world] = 0;
    this.lastTurn[world] = 0;
    this.openTurn(world, 0);
    this.offer(world);
  }

  step(actions: Int32Array): void {
    for (let world = 0; world < this.worlds; world++) {
      if (this.over[world] === 0) this.stepWorld(world, actions[world * 2 + this.turn[world]]);
    }
  }

  /** Takes the pick of the company whose turn it is in one world. */
  stepWorld(world: number, choice: number): void {
    const { city, figures } = this;
    const first = world * 2;
    const company = this.turn[world];
    const place = first + company;
    const at = place * this.shape.candidates + choice;
    if (!(choice >= 0 && choice < this.numActions[place]) || this.legal[at] === 0) {
      throw new RangeError(
        `${this.name}: ${rules.companies[company]} of world ${world} chose candidate ${choice}, which is not legal there; choose one whose legal mask is 1.`,
      );
    }
    for (let other = first; other < first + 2; other++) {
      this.reward[other] = 0;
      this.terminated[other] = 0;
    }
    // Where nobody looked at the list, only what was picked needs figures.
    if (!this.showing && figures.size[at] < 3) assess(city, world, company, figures.size[at], at, at + 1, figures);
    this.record(place, at);
    this.decided[place] = 1;
    this.flow[0] = 0;
    this.flow[1] = 0;
    const size = figures.size[at];
    if (size < 3) {
      city.place(world, company, size, figures.footprint[at], figures.cost[at]);
      city.promised[place] += figures.net[at];
      this.flow[company] = -figures.cost[at];
      this.picks[world]++;
      this.pay(world);
    } else this.endTurn(world);
    this.offer(world);
  }

  /** STOP: the other company's turn, or the end of the month. */
  private endTurn(world: number): void {
    const { city } = this;
    const first = world * 2;
    const other = 1 - this.turn[world];
    if (this.lastTurn[world] === 0 && city.bankrupt[first + other] === 0) {
      this.lastTurn[world] = 1;
      this.openTurn(world, other);
      this.pay(world);
      return;
    }
    city.close(world, this.flow);
    const final = city.month[world] + 1 === this.settings.months;
    if (final) {
      for (let company = 0; company < 2; company++) {
        if (city.bankrupt[first + company] === 0) this.flow[company] += city.residual(world, company);
      }
    }
    this.pay(world);
    let solvent = 0;
    for (let place = first; place < first + 2; place++) {
      const gone = city.bankrupt[place] === 1;
      // A company that went bankrupt earlier has had its end.
      if (this.ended(place)) continue;
      if (gone || final) {
        this.terminated[place] = 1;
        this.decided[place] = 2;
      } else solvent++;
    }
    this.acting[first] = 0;
    this.acting[first + 1] = 0;
    if (solvent === 0) {
      this.over[world] = 1;
      return;
    }
    city.month[world]++;
    city.unlock(world);
    this.lastTurn[world] = 0;
    const starter = city.month[world] % 2;
    this.openTurn(world, city.bankrupt[first + starter] === 0 ? starter : 1 - starter);
  }

  private ended(place: number): boolean {
    return this.decided[place] === 2;
  }

  private openTurn(world: number, company: number): void {
    this.turn[world] = company;
    this.picks[world] = 0;
    this.sequenceScore[world * 2 + company] = 0;
    this.acting[world * 2 + company] = 1;
    this.acting[world * 2 + 1 - company] = 0;
  }

  /** Turns this step's money into rewards. What comes before a company's first decision waits for it, because no row could hold it. */
  private pay(world: number): void {
    const ind = this.flow[0];
    const edu = this.flow[1];
    const share = this.settings.cooperation;
    for (let company = 0; company < 2; company++) {
      const place = world * 2 + company;
      if (this.ended(place)) continue;
      const own = company === 0 ? ind : edu;
      const other = company === 0 ? edu : ind;
      const reward = (own + share * other) / rules.rewardUnit + this.owed[place];
      this.owed[place] = this.decided[place] === 0 ? reward : 0;
      this.reward[place] = this.decided[place] === 0 ? 0 : reward;
    }
  }

  /** Draws the next list for the company whose turn it is. */
  private offer(world: number): void {
    const { city, figures, settings } = this;
    const first = world * 2;
    this.numActions[first] = 0;
    this.numActions[first + 1] = 0;
    if (this.over[world] === 0) {
      const stream = this.streams[world]!;
      const company = this.turn[world];
      const place = first + company;
      const start = place * this.shape.candidates;
      const month = city.month[world];
      const sizes = month >= rules.availableFrom[2] ? 3 : month >= rules.availableFrom[1] ? 2 : 1;
      const share = Math.floor(settings.placements / sizes);
      const affordable = city.cash[place] + settings.debtLimit;
      const { subset: candidates, legal } = this;
      const { cost } = figures;
      let at = start;
      for (let size = 0; size < sizes; size++) {
        const group = groupOf[company][size];
        const drawn = Math.min(share, city.free.length[world * 3 + group]);
        const ids = (company * 3 + size) * footprints;
        city.free.draw(world, group, drawn, stream, figures.footprint, at);
        if (this.showing) {
          assess(city, world, company, size, at, at + drawn, figures);
          describe(city, world, company, size, at, at + drawn, figures, this.candidateFeatures);
        } else price(city, world, company, size, at, at + drawn, figures);
        for (let end = at + drawn; at < end; at++) {
          candidates[at] = actionTable[ids + figures.footprint[at]];
          legal[at] = cost[at] <= affordable ? 1 : 0;
        }
      }
      assessStop(at, figures);
      if (this.showing) describeStop(city, world, company, at, this.candidateFeatures);
      this.subset[at] = stopAction;
      this.legal[at] = 1;
      this.numActions[place] = at + 1 - start;
    }
    if (this.showing) observe(city, world, this.turn[world], this.picks[world], this.obs, this.state);
  }

  private record(place: number, at: number): void {
    this.sequenceScore[place] += this.figures.net[at];
    const month = this.city.month[place >> 1];
    const start = place * this.shape.candidates;
    this.columns.record(place, at, this.figures, this.sequenceScore[place], month, start, this.numActions[place]);
  }

  save(world: number): number[] {
    const stream = this.streams[world];
    if (!stream) throw new Error(`World ${world} of ${this.name} was saved before its first reset; reset it first.`);
    const saved: number[] = [...stream.state()];
    this.city.save(world, saved);
    for (const [array, width] of this.blocks()) saveBlock(saved, array, world * width, width);
    return saved;
  }

  load(world: number, saved: readonly number[]): void {
    const read = new SavedNumbers(saved);
    this.streams[world] = read.stream();
    this.city.load(world, read);
    for (const [array, width] of this.blocks()) read.block(array, world * width, width);
    read.end(this.name);
    const { city, figures, candidateFeatures: features } = this;
    const company = this.turn[world];
    const place = world * 2 + company;
    const start = place * this.shape.candidates;
    for (let at = start; at < start + this.numActions[place]; at++) {
      const { size, footprint } = placementOf(company, this.subset[at]);
      figures.footprint[at] = footprint;
      if (size === 3) {
        assessStop(at, figures);
        describeStop(city, world, company, at, features);
      } else {
        assess(city, world, company, size, at, at + 1, figures);
        describe(city, world, company, size, at, at + 1, figures, features);
      }
    }
    observe(city, world, company, this.picks[world], this.obs, this.state);
  }

  private blocks(): [{ [index: number]: number } & ArrayLike<number>, number][] {
    const list = 2 * this.shape.candidates;
    return [
      [this.over, 1],
      [this.turn, 1],
      [this.lastTurn, 1],
      [this.picks, 1],
      [this.acting, 2],
      [this.numActions, 2],
      [this.reward, 2],
      [this.terminated, 2],
      [this.decided, 2],
      [this.owed, 2],
      [this.sequenceScore, 2],
      [this.subset, list],
      [this.legal, list],
    ];
  }
}

/** Global id of a placement. */
export function actionOf(company: number, size: number, footprint: number): number {
  const shape = Math.floor(footprint / parcels);
  const variant = company === 0 ? shape : size === 2 ? shape + 1 : size;
  return variant * parcels + (footprint % parcels);
}

/** Global ids by company, size and footprint. */
const actionTable = new Int16Array(6 * footprints);
for (let i = 0; i < actionTable.length; i++) {
  const size = Math.floor(i / footprints) % 3;
  actionTable[i] = actionOf(Math.floor(i / footprints / 3), size, i % footprints);
}

/** Size and footprint of a global id; size 3 is STOP. */
export function placementOf(company: number, action: number): { size: number; footprint: number } {
  if (action === stopAction) return { size: 3, footprint: -1 };
  const variant = Math.floor(action / parcels);
  const parcel = action % parcels;
  if (company === 0) return { size: variant === 0 ? 0 : variant === 3 ? 2 : 1, footprint: action };
  return { size: Math.min(2, variant), footprint: (variant < 2 ? 0 : variant - 1) * parcels + parcel };
}
