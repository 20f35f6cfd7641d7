import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Relative, so that the built page works below any path of any web server.
  base: './',
  plugins: [svelte({ compilerOptions: { runes: true } })],
  worker: { format: 'es', rolldownOptions: { external: [/^node:/] } },
  build: {
    outDir: fileURLToPath(new URL('../dist/studio', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    // What Node needs is in chunks of their own, which a page never loads.
    rolldownOptions: { external: [/^node:/] },
  },
});
