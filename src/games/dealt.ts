/** Dealing names to seats. Entry i is the seat of name i, not the name in seat i; `seatedNames` turns it round. */
import type { RandomStream } from '../math/random.ts';

/** A fair deal: the seat of every name. */
export function dealSeats(stream: RandomStream, seats: number): Int32Array {
  return stream.shuffle(Int32Array.from({ length: seats }, (_, name) => name));
}

/** The name in every seat, from the seat of every name. */
export function seatedNames(seatOfName: ArrayLike<number>): Int32Array {
  const names = new Int32Array(seatOfName.length);
  for (let name = 0; name < seatOfName.length; name++) names[seatOfName[name]] = name;
  return names;
}
