/** Rows gathered inside the kernels' memory, on all threads: JavaScript copies shared memory slowly. Other columns are copied as they would be anywhere. */
import { plainRoom, type Room } from '../types.ts';
import type { Kernels } from './kernels.ts';
import { Region } from './memory.ts';
import { COPY_ROWS, copyFields, taskKinds } from './structs.ts';

export class RowCopies {
  readonly room: Room;
  private readonly copy: number;
  private readonly list: Region;

  constructor(private readonly kernels: Kernels) {
    const { memory } = kernels;
    this.copy = memory.allocate(copyFields.words * 4);
    this.list = new Region(memory);
    this.room = { ...memory.room, gather: (...rows) => this.gather(...rows) };
  }

  private gather(into: Float32Array, from: Float32Array, list: Int32Array, count: number, width: number): void {
    const { memory, threads } = this.kernels;
    const target = memory.addressOf(into);
    const source = memory.addressOf(from);
    if (!target || !source || count * width > into.length) {
      plainRoom.gather(into, from, list, count, width);
      return;
    }
    const at = this.list.ensure(count * 4);
    const words = memory.i32;
    const rows = Math.floor(from.length / width);
    for (let i = 0; i < count; i++) {
      if (!(list[i] >= 0 && list[i] < rows))
        throw new RangeError(`row ${list[i]} was asked for; there are rows 0 to ${rows - 1}.`);
      words[(at >> 2) + i] = list[i];
    }
    const copy = this.copy >> 2;
    words[copy + copyFields.into] = target;
    words[copy + copyFields.from] = source;
    words[copy + copyFields.list] = at;
    words[copy + copyFields.rows] = count;
    words[copy + copyFields.bytes] = width * 4;
    const tasks = Math.ceil(count / COPY_ROWS);
    threads.begin(tasks);
    for (let task = 0; task < tasks; task++) threads.add(taskKinds.copy, this.copy, task);
    threads.run();
  }
}
