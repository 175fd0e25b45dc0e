import { defineConfig } from 'vitest/config'

const FOLDERS = (process.env['MUTATION_TESTS'] ?? '').split(',')
const BUDGET = process.env['TEST_BUDGET'] ?? 'quick'
const SLOW = BUDGET === 'quick' ? ['slow'] : []

/** The tests that are asked about the mutants of one folder, in one worker. */
export default defineConfig({
  test: {
    include: FOLDERS.map((folder) => `test/${folder}/**/*.test.ts`),
    exclude: ['**/node_modules/**', `test/**/*.{${['browser', 'isolated', ...SLOW]}}.test.ts`],
    env: { TEST_BUDGET: BUDGET },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    isolate: false,
    // Of several tests at a time, none knows that it is the present one, and so cannot leave itself out.
    maxConcurrency: 1,
    tags: [{ name: 'slow' }, { name: 'original' }],
    // Stryker changes the text of the sources, and runs the tests in threads.
    tagsFilter: ['!original', ...SLOW.map((tag) => `!${tag}`)],
  },
})
