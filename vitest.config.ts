import { defineConfig } from 'vitest/config';

const common = {
  pool: 'forks' as const,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  setupFiles: ['./test/support/properties.ts'],
};

export default defineConfig({
  test: {
    projects: [
      { test: { ...common, name: 'unit', include: ['src/**/*.test.ts', 'studio/**/*.test.ts'] } },
      { test: { ...common, name: 'integration', include: ['test/**/*.test.ts'], testTimeout: 600_000 } },
    ],
  },
});
