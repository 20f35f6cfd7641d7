/** What all charts of a view share: which lines are hidden or stand out, by their names. */
class Shared {
  hidden = $state.raw<ReadonlySet<string>>(new Set());
  /** The line that the pointer is on in some legend. */
  focus = $state('');

  toggle(label: string): void {
    const next = new Set(this.hidden);
    if (!next.delete(label)) next.add(label);
    this.hidden = next;
  }

  /** Shows one line alone; where it is alone already, all of them. */
  only(label: string, all: readonly string[]): void {
    const others = all.filter((name) => name !== label);
    const alone = others.every((name) => this.hidden.has(name)) && !this.hidden.has(label);
    this.hidden = new Set(alone ? [] : others);
  }
}

export const shared = new Shared();
