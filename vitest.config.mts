import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

/** Replace modules of Node, which works only before anybody has loaded them. */
const ISOLATED = 'test/**/*.isolated.test.ts'
/** Need a Chromium. */
const BROWSER = 'test/**/*.browser.test.ts'
/** Need a Redis server. */
const REDIS = 'test/**/*.redis.test.ts'
/** Need other programs: Python, Go, Java, curl. */
const PROGRAMS = 'test/**/*.programs.test.ts'
/** Search for long, or fetch packages from a registry: nobody waits for them. */
const NIGHT = 'test/**/*.night.test.ts'

/**
 * For how long a test waits, for what usually comes in a moment. Only what never comes takes so long: CI may run where four
 * others want the same processor.
 */
const COMMON = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } }

function project(
  name: string,
  include: string,
  { exclude = [], ...options }: TestProjectInlineConfiguration['test'] = {},
): TestProjectInlineConfiguration {
  return { test: { ...COMMON, name, include: [include], exclude: [...configDefaults.exclude, ...exclude], ...options } }
}

/** `npm test` runs the projects whose name begins with `node`; `npm run test:all`, all but those of the night. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts'],
    // As many as there are cores: by default, one core would be left to what hands out the files, which is idle.
    maxWorkers: availableParallelism(),
    projects: [
      // What files share is loaded, and the contract compiled, once for each worker and not for each file.
      project('node', 'test/**/*.test.ts', {
        exclude: [ISOLATED, BROWSER, REDIS, PROGRAMS, NIGHT],
        isolate: false,
      }),
      project('node-isolated', ISOLATED),
      project('browser', BROWSER, { isolate: false }),
      project('redis', REDIS, { isolate: false }),
      project('programs', PROGRAMS, { isolate: false }),
      project('night', NIGHT, { isolate: false }),
    ],
  },
})
