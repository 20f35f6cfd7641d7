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

/** Curves' colours: told apart by those who see colours differently, on both grounds. */
export const palette = {
  light: ['#0b6bcb', '#c2410c', '#15803d', '#9333ea', '#b45309', '#0e7490', '#be185d', '#4d7c0f'],
  dark: ['#63b3ff', '#ff9d5c', '#6fdc8c', '#c69bff', '#f2c14e', '#58d0e6', '#ff8fc0', '#b3d85a'],
};

export function colour(index: number): string {
  const colours = palette[theme.dark ? 'dark' : 'light'];
  return colours[index % colours.length];
}
