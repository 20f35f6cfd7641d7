/** Light or dark: as the system has it until it is chosen, then remembered. */

class Theme {
  dark = $state(false);

  constructor() {
    const kept = globalThis.localStorage?.getItem('theme');
    this.apply(kept ? kept === 'dark' : (globalThis.matchMedia?.('(prefers-color-scheme: dark)').matches ?? false));
  }

  toggle(): void {
    this.apply(!this.dark);
    localStorage.setItem('theme', this.dark ? 'dark' : 'light');
  }

  private apply(dark: boolean): void {
    this.dark = dark;
    if (globalThis.document) document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  }
}

export const theme = new Theme();

/** Curves' colours, enough for fifteen runs: told apart on both grounds, neighbours most of all. */
export const palette = {
  light: [
    ...['#0b6bcb', '#d1490c', '#15803d', '#8b2fd6', '#a37a00', '#0e8a94', '#c21873', '#5a6b00'],
    ...['#5b4bd6', '#8a3b12', '#6b7280', '#e0457b', '#1e3a8a', '#7c1d3f', '#0891d1', '#b065d0'],
  ],
  dark: [
    ...['#63b3ff', '#ff9d5c', '#6fdc8c', '#c69bff', '#f2c14e', '#58d0e6', '#ff8fc0', '#b3d85a'],
    ...['#9b93ff', '#d99a6c', '#a8b3c2', '#ff7d9e', '#7fa6ff', '#e0829f', '#4cc2ff', '#dfa7f5'],
  ],
};

export function colour(index: number): string {
  const colours = palette[theme.dark ? 'dark' : 'light'];
  return colours[index % colours.length];
}

/** Agents of a run: a full line, then dashes of several lengths. */
const dashes: number[][] = [[], [7, 4], [2, 3], [9, 3, 2, 3], [14, 4], [4, 2], [2, 6], [12, 3, 2, 3, 2, 3]];

export function dash(index: number): number[] {
  return dashes[index % dashes.length];
}
