/** What is shown, kept in the address after the #, so that a link leads back to it and any web server will do. */

export const views = ['drop', 'runs', 'train', 'replay', 'compare', 'symmetry', 'queue'] as const;
export type View = (typeof views)[number];

class Address {
  view = $state<View>('drop');
  private params = $state<Record<string, string>>({});

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

  go(view: View, params: Record<string, string> = {}): void {
    const kept = Object.entries(params).filter(([, value]) => value !== '');
    const query = new URLSearchParams(kept).toString();
    const hash = `#/${view}${query ? `?${query}` : ''}`;
    if (globalThis.location.hash !== hash) globalThis.location.hash = hash;
    this.view = view;
    this.params = Object.fromEntries(kept);
  }

  /** The address of a view, for links. */
  link(view: View, params: Record<string, string> = {}): string {
    const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== '')).toString();
    return `#/${view}${query ? `?${query}` : ''}`;
  }

  private read(): void {
    const [path, query = ''] = (globalThis.location?.hash ?? '').replace(/^#\/?/, '').split('?');
    this.view = (views as readonly string[]).includes(path) ? (path as View) : 'drop';
    this.params = Object.fromEntries(new URLSearchParams(query));
  }
}

export const address = new Address();
