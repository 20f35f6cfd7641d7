/** Shows together what arrives one by one: all of it when the last piece is there, and what there is so far after pauses that grow, so that showing costs no more than a few times what showing everything once does. */
export class Together {
  private expected = 0;
  private arrived: (() => void)[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pause: number;

  /** `first`: milliseconds until a part is shown while others are still to come. */
  constructor(private readonly first: number) {
    this.pause = first;
  }

  /** Waits for a piece with the others that are on their way, and shows it with them. */
  async take<T>(piece: Promise<T>, show: (piece: T) => void): Promise<void> {
    this.expected++;
    let got: T;
    try {
      got = await piece;
    } catch (error) {
      this.expected--;
      this.look();
      throw error;
    }
    this.expected--;
    await new Promise<void>((resolve) => {
      this.arrived.push(() => {
        show(got);
        resolve();
      });
      this.look();
    });
  }

  private look(): void {
    if (this.expected === 0) this.showAll();
    else if (this.arrived.length > 0)
      this.timer ??= setTimeout(() => {
        this.pause *= 2;
        this.showAll();
      }, this.pause);
  }

  private showAll(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.expected === 0) this.pause = this.first;
    const { arrived } = this;
    this.arrived = [];
    for (const show of arrived) show();
  }
}
