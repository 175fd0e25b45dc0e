import { defineConfig } from 'vitest/config'

const FOLDERS = (process.env['MUTATION_TESTS'] ?? '').split(',')
/** They read the text of sources, which Stryker changes, change their process, or start the built program. */
const ELSEWHERE = [
  'test/library/documented-types.test.ts',
  'test/server/options.test.ts',
  'test/explain/reproduction.test.ts',
]

/** The tests that are asked about the mutants of one folder, in one worker. */
export default defineConfig({
  test: {
    include: FOLDERS.map((folder) => `test/${folder}/**/*.test.ts`),
    exclude: ['**/node_modules/**', 'test/**/*.{browser,isolated,redis,programs,night}.test.ts', ...ELSEWHERE],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    isolate: false,
    // Of several tests at a time, none knows that it is the present one, and so cannot leave itself out.
    maxConcurrency: 1,
  },
})
