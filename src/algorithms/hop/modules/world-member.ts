/**
 * One member of the world model's ensemble. It is local, as a convolution is: what becomes of a player depends on its neighbourhood and on
 * who acts on its cell, what becomes of a thing on who acts on its cell; so one network serves all players and all cells, on a grid of any size.
 */
import type { RandomStream } from '../../../math/random.ts';
import type { Engine } from '../../../net/types.ts';
import type { HopSettings } from '../settings.ts';
import { Model } from './model.ts';
import { neighbours, type Planes, type StateArray } from './planes.ts';
import { copyRow } from './ring.ts';
import type { Predicted, StepColumns } from './world-columns.ts';

/** Outputs for a player, after those for the cells: whether it leaves, and whether it is paid. */
const leaves = neighbours;
const isPaid = neighbours + 1;
const playerOutputs = neighbours + 2;

export class WorldMember {
  /** Nine cells that the player may be on next, whether it leaves, and whether it is paid. */
  readonly player: Model;
  /** How much, where it is paid. */
  readonly pay: Model;
  readonly thing: Model;
  readonly mask: Model;
  readonly end: Model;
  private rowOf = new Int32Array(0);
  private targets = new Float32Array(0);
  private wanted = new Float32Array(0);

  constructor(
    engine: Engine,
    private readonly planes: Planes,
    settings: HopSettings,
    seed: number,
    name: string,
    index: number,
  ) {
    const { hidden } = settings.worldModel;
    const { actions, kinds, localWidth } = planes;
    const rate = { learningRate: settings.worldModel.learningRate, settles: true };
    const model = (purpose: string, inputs: number, outputs: number) =>
      new Model(engine, { inputs, hidden, outputs }, rate, seed, name, 'world-model', index, purpose);
    const inputs = 2 * actions + localWidth;
    this.player = model('player', inputs, playerOutputs);
    this.pay = model('pay', inputs, 1);
    this.thing = model('thing', kinds + 1 + actions, kinds + 1);
    this.mask = model('mask', localWidth, actions);
    this.end = model('end', kinds + 1, 1);
  }

  get models(): Model[] {
    return [this.player, this.pay, this.thing, this.mask, this.end];
  }

  /** One optimiser step of each network on the given rows; the sum of their losses. */
  learn(columns: StepColumns, rows: Int32Array, count: number, stream: RandomStream): number {
    return (
      this.learnPlayers(columns, rows, count) +
      this.learnThings(columns, rows, count, stream) +
      this.learnMasks(columns, rows, count) +
      this.learnEnd(columns, rows, count)
    );
  }

  private learnPlayers(columns: StepColumns, rows: Int32Array, count: number): number {
    const { planes, player, pay } = this;
    const { players, stateWidth, nowhere } = planes;
    const x = player.begin(count * players);
    const outputs = playerOutputs;
    const amounts = pay.begin(count * players);
    const { inputs } = pay.shape;
    this.reserve(count * players * outputs, count * players);
    this.targets.fill(0, 0, count * players * outputs);
    let used = 0;
    let paid = 0;
    for (let i = 0; i < count; i++) {
      const row = rows[i];
      const at = row * stateWidth;
      for (let p = 0; p < players; p++) {
        if (!this.playerInputs(columns.state, at, columns.action, row * players, p, x, used)) continue;
        const after = columns.next[at + p];
        if (columns.next[at + players + p] === 0) this.targets[used * outputs + leaves] = 1;
        else if (after !== nowhere) {
          const offset = planes.offset(columns.state[at + p], after);
          if (offset >= 0) this.targets[used * outputs + offset] = 1;
        }
        const reward = columns.reward[row * players + p];
        if (reward !== 0) {
          this.targets[used * outputs + isPaid] = 1;
          this.wanted[paid] = reward;
          copyRow(x, used, amounts, paid++, inputs);
        }
        used++;
      }
    }
    const moved = player.learn(used, { kind: 'bernoulli', targets: this.targets });
    return moved + pay.learn(paid, { kind: 'gaussian', targets: this.wanted });
  }

  private learnThings(columns: StepColumns, rows: Int32Array, count: number, stream: RandomStream): number {
    const { planes, thing } = this;
    const { cells, firstCell, stateWidth, kinds } = planes;
    const outputs = kinds + 1;
    // At most every cell holds a thing; one empty cell of each step stands for all of them.
    const x = thing.begin(count * cells);
    this.reserve(count * cells * outputs, 0);
    this.targets.fill(0, 0, count * cells * outputs);
    let used = 0;
    for (let i = 0; i < count; i++) {
      const row = rows[i];
      const at = row * stateWidth;
      const empty = stream.below(cells);
      for (let cell = 0; cell < cells; cell++) {
        const here = columns.state[at + firstCell + cell];
        if (here === 0 && cell !== empty) continue;
        this.thingInputs(columns.state, at, columns.action, row * planes.players, cell, x, used);
        const after = columns.next[at + firstCell + cell];
        if (after > 0) this.targets[used * outputs + after - 1] = 1;
        used++;
      }
    }
    return thing.learn(used, { kind: 'bernoulli', targets: this.targets });
  }

  private learnMasks(columns: StepColumns, rows: Int32Array, count: number): number {
    const { planes, mask } = this;
    const { players, stateWidth, actions } = planes;
    const x = mask.begin(count * players);
    this.reserve(count * players * actions, 0);
    let used = 0;
    for (let i = 0; i < count; i++) {
      const row = rows[i];
      for (let p = 0; p < players; p++) {
        const bits = columns.mask[row * players + p];
        const cell = columns.state[row * stateWidth + p];
        if (bits === 0 || cell === planes.nowhere) continue;
        planes.local(columns.state, row * stateWidth, cell, x, used * planes.localWidth);
        for (let a = 0; a < actions; a++) this.targets[used * actions + a] = (bits >> a) & 1;
        used++;
      }
    }
    return mask.learn(used, { kind: 'bernoulli', targets: this.targets });
  }

  private learnEnd(columns: StepColumns, rows: Int32Array, count: number): number {
    this.end.begin(count);
    this.reserve(count, 0);
    for (let i = 0; i < count; i++) {
      this.endInputs(columns.next, rows[i] * this.planes.stateWidth, i);
      this.targets[i] = columns.end[rows[i]];
    }
    return this.end.learn(count, { kind: 'bernoulli', targets: this.targets });
  }

  /** Predicts one step of `count` states that lie one after the other. */
  step(states: StateArray, count: number, action: Int32Array, out: Predicted): void {
    const { planes } = this;
    const { players, stateWidth, cells, firstCell, kinds, nowhere } = planes;
    const { player, pay, thing } = this;
    if (this.rowOf.length < count * Math.max(players, cells))
      this.rowOf = new Int32Array(count * Math.max(players, cells));
    const rowOf = this.rowOf;
    const x = player.begin(count * players);
    let used = 0;
    for (let i = 0; i < count; i++)
      for (let p = 0; p < players; p++)
        rowOf[i * players + p] = this.playerInputs(states, i * stateWidth, action, i * players, p, x, used)
          ? used++
          : -1;
    if (used > 0) player.forward(used);
    let paid = 0;
    const amounts = pay.begin(used);
    for (let row = 0; row < used; row++)
      if (player.y[row * playerOutputs + isPaid] > 0) copyRow(x, row, amounts, paid++, pay.shape.inputs);
    if (paid > 0) pay.forward(paid);
    paid = 0;
    out.next.set(states.subarray(0, count * stateWidth));
    for (let i = 0; i < count; i++) {
      for (let p = 0; p < players; p++) {
        const row = rowOf[i * players + p];
        out.reward[i * players + p] = 0;
        if (row < 0) continue;
        const at = i * stateWidth + p;
        const first = row * playerOutputs;
        if (player.y[first + isPaid] > 0) out.reward[i * players + p] = pay.y[paid++];
        if (player.y[first + leaves] > 0) {
          out.next[at] = nowhere;
          out.next[at + players] = 0;
        } else out.next[at] = this.likeliest(states[at], player.y, first);
      }
    }
    used = 1;
    const t = thing.begin(1 + count * cells);
    // Row 0 is an empty cell, which stands for all of them.
    for (let i = 0; i < count; i++) {
      for (let cell = 0; cell < cells; cell++) {
        if (states[i * stateWidth + firstCell + cell] === 0) rowOf[i * cells + cell] = 0;
        else {
          this.thingInputs(states, i * stateWidth, action, i * players, cell, t, used);
          rowOf[i * cells + cell] = used++;
        }
      }
    }
    thing.forward(used);
    for (let i = 0; i < count; i++) {
      for (let cell = 0; cell < cells; cell++) {
        const first = rowOf[i * cells + cell] * (kinds + 1);
        let best = 0;
        let logit = 0;
        for (let k = 0; k <= kinds; k++) {
          if (thing.y[first + k] <= logit) continue;
          logit = thing.y[first + k];
          best = k + 1;
        }
        out.next[i * stateWidth + firstCell + cell] = best;
      }
    }
    this.describe(out.next, count, out);
  }

  /** Legal masks and the end, from states. */
  private describe(states: StateArray, count: number, out: Predicted): void {
    const { planes, mask, end } = this;
    const { players, stateWidth, actions, nowhere } = planes;
    const { rowOf } = this;
    const x = mask.begin(count * players);
    end.begin(count);
    let used = 0;
    for (let i = 0; i < count; i++) {
      this.endInputs(states, i * stateWidth, i);
      for (let p = 0; p < players; p++) {
        const cell = states[i * stateWidth + p];
        const there = states[i * stateWidth + players + p] === 1 && cell !== nowhere;
        rowOf[i * players + p] = there ? used : -1;
        if (there) planes.local(states, i * stateWidth, cell, x, used++ * planes.localWidth);
      }
    }
    if (used > 0) mask.forward(used);
    if (count > 0) end.forward(count);
    for (let i = 0; i < count; i++) {
      out.end[i] = end.y[i] > 0 ? 1 : 0;
      for (let p = 0; p < players; p++) {
        const row = rowOf[i * players + p];
        let bits = 0;
        if (row >= 0) for (let a = 0; a < actions; a++) if (mask.y[row * actions + a] > 0) bits |= 1 << a;
        out.nextMask[i * players + p] = out.end[i] === 1 ? 0 : bits;
      }
    }
  }

  private likeliest(from: number, logits: Float32Array, first: number): number {
    const { around } = this.planes;
    let best = from;
    let logit = -Infinity;
    for (let i = 0; i < neighbours; i++) {
      const cell = around[from * neighbours + i];
      if (cell < 0 || logits[first + i] <= logit) continue;
      logit = logits[first + i];
      best = cell;
    }
    return best;
  }

  /** The player's action, how many others take each action on its cell, and what lies around it. False where the player does not act or is not seen. */
  private playerInputs(
    states: StateArray,
    at: number,
    action: Int32Array,
    first: number,
    player: number,
    x: Float32Array,
    row: number,
  ): boolean {
    const { planes } = this;
    const { players, actions } = planes;
    const cell = states[at + player];
    if (action[first + player] < 0 || cell === planes.nowhere) return false;
    const to = row * (2 * actions + planes.localWidth);
    x[to + action[first + player]] = 1;
    for (let other = 0; other < players; other++)
      if (other !== player && states[at + other] === cell && action[first + other] >= 0)
        x[to + actions + action[first + other]]++;
    planes.local(states, at, cell, x, to + 2 * actions);
    return true;
  }

  /** What lies on the cell, and how many players take each action there. An empty cell is all zeros. */
  private thingInputs(
    states: StateArray,
    at: number,
    action: Int32Array,
    first: number,
    cell: number,
    x: Float32Array,
    row: number,
  ): void {
    const { players, kinds, actions, firstCell } = this.planes;
    const here = states[at + firstCell + cell];
    if (here === 0) return;
    const to = row * (kinds + 1 + actions);
    x[to + here - 1] = 1;
    for (let p = 0; p < players; p++)
      if (states[at + p] === cell && action[first + p] >= 0) x[to + kinds + 1 + action[first + p]]++;
  }

  /** Of which kinds of things no one is left, and whether no player is. */
  private endInputs(states: StateArray, at: number, row: number): void {
    const { players, kinds, cells, firstCell } = this.planes;
    const to = row * (kinds + 1);
    const { x } = this.end;
    x.fill(1, to, to + kinds + 1);
    for (let cell = 0; cell < cells; cell++) {
      const thing = states[at + firstCell + cell];
      if (thing > 0 && thing <= kinds) x[to + thing - 1] = 0;
    }
    for (let p = 0; p < players; p++) if (states[at + players + p] === 1) x[to + kinds] = 0;
  }

  private reserve(targets: number, wanted: number): void {
    if (this.targets.length < targets) this.targets = new Float32Array(targets);
    if (this.wanted.length < wanted) this.wanted = new Float32Array(wanted);
  }
}
