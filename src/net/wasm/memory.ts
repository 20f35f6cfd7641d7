/** The kernels' memory: an allocator with views that survive growth. Never keep a view across a call that may allocate; ask for it again. */

const PAGE = 65536;

export class KernelMemory {
  readonly memory: WebAssembly.Memory;
  f32!: Float32Array;
  i32!: Int32Array;
  u8!: Uint8Array;
  f64!: Float64Array;
  private top: number;
  private readonly maximum: number;
  /** Freed blocks by the logarithm of their size. */
  private readonly free: number[][] = Array.from({ length: 32 }, () => []);

  constructor(shared: boolean, maximumPages: number, reserved: number) {
    this.maximum = maximumPages;
    this.memory = new WebAssembly.Memory({ initial: 16, maximum: maximumPages, shared });
    this.top = Math.ceil(reserved / 64) * 64;
    this.refresh();
  }

  private refresh(): void {
    const buffer = this.memory.buffer;
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
}

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
