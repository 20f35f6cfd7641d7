/** The workers that read runs: at most four for all of them, however many are open, because each holds the doctor's program and a processor has only so many cores. */
import { Caller } from './rpc.ts';

const most = 4;
/** Ends a worker that reads nothing any more. */
const shared: { caller: Caller; runs: number }[] = [];

function begin(): Caller {
  return new Caller(new Worker(new URL('./run.worker.ts', import.meta.url), { type: 'module' }));
}

export interface Desk {
  caller: Caller;
  leave(): void;
}

/** A place with the worker that has the fewest runs; a run that is being trained here has one of its own, so that its doctor waits for nobody. */
export function takeDesk(alone: boolean): Desk {
  if (alone) {
    const caller = begin();
    return { caller, leave: () => caller.dispose() };
  }
  const free = shared.find(({ runs }) => runs === 0);
  let place = free;
  if (!place && shared.length < most) {
    place = { caller: begin(), runs: 0 };
    shared.push(place);
  }
  place ??= shared.reduce((best, one) => (one.runs < best.runs ? one : best));
  const { caller } = place;
  const taken = place;
  taken.runs++;
  let left = false;
  return {
    caller,
    leave: () => {
      if (left) return;
      left = true;
      taken.runs--;
    },
  };
}

/** How many workers there are, for tests. */
export const desks = () => shared.length;
