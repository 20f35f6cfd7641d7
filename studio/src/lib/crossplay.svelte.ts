/** A matrix of who earns what beside whom, as `trueline crossplay --json` prints it: from the server's folder, or a file that is opened or dropped. */
import { say } from '../texts/index.svelte.ts';
import { base } from './stores.ts';

export interface Matrix {
  format: 'trueline/crossplay/1';
  game: string;
  players: string[];
  matrix: { mean: number; halfWidth: number; episodes: number }[][];
}

const isMatrix = (data: unknown): data is Matrix =>
  (data as Matrix | null)?.format === 'trueline/crossplay/1' && Array.isArray((data as Matrix).matrix);

class Crossplay {
  matrix = $state.raw<Matrix | undefined>(undefined);
  error = $state('');
  /** Something was asked for, whether or not it could be shown. */
  touched = $state(false);
  /** The folder on the server that it is from; empty for a file. */
  of = $state('');

  async read(id: string): Promise<void> {
    const path = id.split('/').map(encodeURIComponent).join('/');
    this.of = id;
    const response = await fetch(new URL(`file/${path}/crossplay.json`, base()));
    const text = response.ok ? await response.text() : '';
    // Another may have been chosen meanwhile.
    if (id === this.of) this.take(id, text);
  }

  async open(file: File): Promise<void> {
    this.of = '';
    this.take(file.name, await file.text());
  }

  /** Whether what was dropped is one; anything else is left to others. */
  async offered(name: string, blob: Blob): Promise<boolean> {
    if (!name.endsWith('.json')) return false;
    const text = await blob.text();
    if (!text.includes('trueline/crossplay/1')) return false;
    this.of = '';
    this.take(name, text);
    return true;
  }

  private take(name: string, text: string): void {
    this.touched = true;
    this.error = '';
    this.matrix = undefined;
    let data: unknown;
    try {
      data = JSON.parse(text);
    } catch {
      // Said below.
    }
    if (isMatrix(data)) this.matrix = data;
    else this.error = `${name}: ${say('crossplay.wrong')}`;
  }
}

export const crossplay = new Crossplay();
