import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest. They begin first, so that all workers end at about the same time. */
const longest = [
  'test/accept/verdicts.test.ts',
  'test/accept/learning.test.ts',
  'test/studio/views.test.ts',
  'test/studio/first-minute.test.ts',
  'test/recorder.test.ts',
  'test/accept/strikes.test.ts',
  'test/docs.test.ts',
  'test/training/train.test.ts',
  'test/studio/page.test.ts',
  'test/start.test.ts',
  'test/sweep/queue.test.ts',
  'test/house/package.test.ts',
  'test/studio/bench.test.ts',
  'test/report.test.ts',
  'test/sweep/redis.test.ts',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification) => {
      const known = longest.findIndex((path) => moduleId.endsWith(path));
      // Unit tests share one worker as long as one follows the other.
      return known >= 0 ? known : longest.length + Number(project.name === 'unit');
    };
    const size = new Map(files.map((file) => [file, statSync(file.moduleId).size]));
    return [...files].sort((a, b) => place(a) - place(b) || size.get(b)! - size.get(a)!);
  }
}

/** Below this folder alone: a checkout may lie in a folder that is called build. */
const built = new RegExp(`${import.meta.dirname.replace(/[^\w/]/g, '\\$&')}/(dist|build|scripts)/`);

const common = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  setupFiles: ['./test/support/properties.ts'],
};

export default defineConfig({
  test: {
    // One more than there are processors: tests that wait for a page, a queue or a program leave theirs to another.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // Transformed modules are kept until they change: the next run loads them in half the time.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'build/modules' },
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['src/**/*.test.ts', 'studio/**/*.test.ts'],
          // Unit tests leave nothing behind: modules that one file has loaded serve the next.
          pool: 'threads',
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          name: 'integration',
          globalSetup: ['./test/support/built.ts', './test/support/chromium.ts'],
          // Programs in Python train small networks, for which a second thread is only a second processor that waits.
          env: { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' },
          include: ['test/**/*.test.ts'],
          pool: 'forks',
          // Loading modules anew for every file took a minute; what a file leaves behind (folders, servers, a language) it removes itself.
          isolate: false,
          // What is built runs as it is.
          server: { deps: { external: [built] } },
          testTimeout: 600_000,
          // A page on a busy machine may take its time; what never comes still fails.
          expect: { poll: { timeout: 30_000 } },
        },
      },
    ],
  },
});
