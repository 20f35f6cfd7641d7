/** The kernels' memory: an allocator with views that survive growth. Never keep a view across a call that may allocate; ask for it again. Only columns of `room` last. */
import { type ColumnKind, plainRoom, type Room } from '../types.ts';

const PAGE = 65536;

export class KernelMemory {
  readonly memory: WebAssembly.Memory;
  f32!: Float32Array;
  i32!: Int32Array;
  u8!: Uint8Array;
  f64!: Float64Array;
  /** Where columns are made that the kernels read as they lie. Plain memory moves when it grows, so there they are made elsewhere. */
  readonly room: Room;
  private top: number;
  private readonly maximum: number;
  /** The memory under each of its sizes: a view of shared memory lasts, but keeps the size that the memory had. */
  private readonly buffers = new WeakSet<ArrayBufferLike>();
  private readonly gone = new FinalizationRegistry<[at: number, bytes: number]>(([at, bytes]) =>
    this.release(at, bytes),
  );
  /** Freed blocks by the logarithm of their size. */
  private readonly free: number[][] = Array.from({ length: 32 }, () => []);

  constructor(shared: boolean, maximumPages: number, reserved: number) {
    this.maximum = maximumPages;
    this.memory = new WebAssembly.Memory({ initial: 16, maximum: maximumPages, shared });
    this.top = Math.ceil(reserved / 64) * 64;
    this.room = shared ? { ...plainRoom, column: (kind, length) => this.column(kind, length) } : plainRoom;
    this.refresh();
  }

  private refresh(): void {
    const buffer = this.memory.buffer;
    this.buffers.add(buffer);
    this.f32 = new Float32Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.u8 = new Uint8Array(buffer);
    this.f64 = new Float64Array(buffer);
  }

  /** A block of at least `bytes`, on a cache line, its contents undefined. Sizes are powers of two, so that a freed block fits again. */
  allocate(bytes: number): number {
    // The kernels read up to one vector beyond the end of a row.
    const exponent = Math.max(6, Math.ceil(Math.log2(bytes + 64)));
    const reused = this.free[exponent].pop();
    if (reused !== undefined) return reused;
    const at = this.top;
    const end = at + 2 ** exponent;
    const have = this.memory.buffer.byteLength;
    if (end > have) {
      const wanted = Math.min(this.maximum, Math.max(Math.ceil(end / PAGE), Math.ceil((have * 1.5) / PAGE)));
      if (end > wanted * PAGE) {
        throw new RangeError(
          `The kernels need ${end} bytes of memory and may have ${this.maximum * PAGE}; use smaller minibatches or networks.`,
        );
      }
      this.memory.grow(wanted - have / PAGE);
      this.refresh();
    }
    this.top = end;
    return at;
  }

  release(at: number, bytes: number): void {
    this.free[Math.max(6, Math.ceil(Math.log2(bytes + 64)))].push(at);
  }

  /** Where a column of `room` lies; 0 for any other. */
  addressOf({ buffer, byteOffset }: ArrayBufferView): number {
    // The first two questions are cheap, and answer for most columns that lie elsewhere.
    return this.room !== plainRoom && buffer instanceof SharedArrayBuffer && this.buffers.has(buffer) ? byteOffset : 0;
  }

  /** Columns leave half of the memory to what the kernels work with. */
  private column<T extends ArrayBufferView>(kind: ColumnKind<T>, length: number): T {
    const bytes = length * kind.BYTES_PER_ELEMENT;
    if (this.top + 2 * bytes > (this.maximum * PAGE) / 2) return new kind(length);
    const at = this.allocate(bytes);
    this.i32.fill(0, at >> 2, (at + bytes + 3) >> 2);
    const column = new (kind as unknown as ColumnAt<T>)(this.memory.buffer, at, length);
    this.gone.register(column, [at, bytes]);
    return column;
  }
}

type ColumnAt<T> = new (buffer: ArrayBufferLike, at: number, length: number) => T;

/** A block that grows; its contents are lost when it does. */
export class Region {
  at = 0;
  private bytes = 0;
  private readonly memory: KernelMemory;

  constructor(memory: KernelMemory) {
    this.memory = memory;
  }

  ensure(bytes: number): number {
    if (this.at === 0 || bytes > this.bytes) {
      this.free();
      this.at = this.memory.allocate(bytes);
      // All of the power of two can be used.
      this.bytes = 2 ** Math.max(6, Math.ceil(Math.log2(bytes + 64))) - 64;
    }
    return this.at;
  }

  free(): void {
    if (this.at !== 0) this.memory.release(this.at, this.bytes);
    this.at = 0;
    this.bytes = 0;
  }
}
