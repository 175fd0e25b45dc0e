import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

/** Need a Chromium, so they run with `--mode browser`: `npm test` asks for nothing but Node. */
const BROWSER = 'test/**/*.browser.test.ts'
/** Replace modules of Node, which works only before anybody has loaded them. */
const ISOLATED = 'test/**/*.isolated.test.ts'
/** Measure time, so they run one after the other when nothing else runs any more. */
const ALONE = 'test/**/*.alone.test.ts'

/**
 * For how long a test waits, for what usually comes in a moment. Only what never comes takes so long: CI may run where four
 * others want the same processor.
 */
const COMMON = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 30_000 } } }

function project(
  name: string,
  include: string,
  { exclude = [], ...options }: TestProjectInlineConfiguration['test'] = {},
): TestProjectInlineConfiguration {
  return {
    test: { ...COMMON, name, include: [include], exclude: [...configDefaults.exclude, ...exclude], ...options },
  }
}

export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: ['test/support/build.ts'],
    // As many as there are cores: by default, one core would be left to what hands out the files, which is idle.
    maxWorkers: availableParallelism(),
    projects:
      mode === 'browser'
        ? [project('browser', BROWSER)]
        : [
            // What files share is loaded, and the contract compiled, once for each worker and not for each file.
            project('shared', 'test/**/*.test.ts', { exclude: [BROWSER, ISOLATED, ALONE], isolate: false }),
            project('isolated', ISOLATED),
            // What another program disturbed is measured again.
            project('alone', ALONE, { isolate: false, maxWorkers: 1, retry: 2, sequence: { groupOrder: 1 } }),
          ],
  },
}))
