/** What is shown, kept in the address after the #, so that a link leads back to it and any web server will do. */

export const views = ['drop', 'runs', 'train', 'replay', 'compare', 'symmetry', 'crossplay', 'queue'] as const;
export type View = (typeof views)[number];

/** Milliseconds between two writings of an address that moves. */
const pause = 250;

class Address {
  view = $state<View>('drop');
  private params = $state<Record<string, string>>({});
  /** What each view showed when it was left. */
  private readonly left: Partial<Record<View, Record<string, string>>> = $state({});
  private waiting: ReturnType<typeof setTimeout> | undefined;
  private moved = Number.NEGATIVE_INFINITY;
  /** The address as this page last wrote or read it. */
  private shown = '';

  constructor() {
    this.read();
    globalThis.addEventListener?.('hashchange', () => this.read());
  }

  get(name: string, otherwise = ''): string {
    return this.params[name] ?? otherwise;
  }

  /** Changes parts of the address; an empty text takes a part away. */
  set(changes: Record<string, string>): void {
    this.go(this.view, { ...this.params, ...changes });
  }

  /** As `set`, for what changes with every frame: browsers stop listening to pages that change their address hundreds of times, so it is written now and then, and at the end. */
  move(changes: Record<string, string>): void {
    this.params = Object.fromEntries(
      Object.entries({ ...this.params, ...changes }).filter(([, value]) => value !== ''),
    );
    clearTimeout(this.waiting);
    const since = performance.now() - this.moved;
    if (since >= pause) this.write();
    else this.waiting = setTimeout(() => this.write(), pause - since);
  }

  /** As `set`, without a step back in the browser's history: nobody has asked for it. */
  replace(changes: Record<string, string>): void {
    this.params = Object.fromEntries(
      Object.entries({ ...this.params, ...changes }).filter(([, value]) => value !== ''),
    );
    this.write();
  }

  private write(): void {
    clearTimeout(this.waiting);
    // Whoever follows a link has left already, though the page is told of it only later.
    if (globalThis.location.hash !== this.shown) return;
    this.moved = performance.now();
    globalThis.history.replaceState(null, '', this.link(this.view, this.params));
    this.shown = globalThis.location.hash;
  }

  go(view: View, params: Record<string, string> = {}): void {
    clearTimeout(this.waiting);
    const hash = this.link(view, params);
    if (globalThis.location.hash !== hash) globalThis.location.hash = hash;
    this.shown = globalThis.location.hash;
    this.leave(view);
    this.view = view;
    this.params = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== ''));
  }

  /** The address of a view as it was left, so that one finds again what one had. */
  back(view: View): string {
    return this.link(view, view === this.view ? {} : (this.left[view] ?? {}));
  }

  /** The address of a view, for links. */
  link(view: View, params: Record<string, string> = {}): string {
    const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== '')).toString();
    return `#/${view}${query ? `?${query}` : ''}`;
  }

  private leave(next: View): void {
    if (next !== this.view) this.left[this.view] = this.params;
  }

  private read(): void {
    clearTimeout(this.waiting);
    this.shown = globalThis.location?.hash ?? '';
    const [path, query = ''] = (globalThis.location?.hash ?? '').replace(/^#\/?/, '').split('?');
    const view = (views as readonly string[]).includes(path) ? (path as View) : 'drop';
    this.leave(view);
    this.view = view;
    this.params = Object.fromEntries(new URLSearchParams(query));
  }
}

export const address = new Address();
