import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { LeftOut } from './test/support/left-out.ts'

/** Need a Chromium. */
const BROWSER = 'test/**/*.browser.test.ts'
/** Replace modules of Node, which works only before anybody has loaded them. */
const ISOLATED = 'test/**/*.isolated.test.ts'
/** Take long, or start the built program as a process. `npm test` leaves them out, and so needs no build. */
const SLOW = 'test/**/*.slow.test.ts'
/** Marks a single test that takes long, in a file of others that do not. `npm test` leaves it out. */
const SLOW_TAG = 'slow'

/**
 * For how long a test waits, for what usually comes in a moment. Only what never comes takes so long: CI may run where four
 * others want the same processor.
 */
const COMMON = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } }

/** Begins with the slow files: one that begins last is waited for while all other processors are idle. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (/\.(slow|browser)\.test\.ts$/.test(moduleId) ? 0 : 1)
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other))
  }
}

/** `--mode whole` and `--mode full` run everything. Any other mode is that of `npm test`. */
export default defineConfig(({ mode }) => {
  const budget = mode === 'whole' || mode === 'full' ? mode : 'quick'
  const left = budget === 'quick' ? [SLOW] : []

  function project(
    name: string,
    include: string,
    { exclude = [], ...options }: TestProjectInlineConfiguration['test'] = {},
  ): TestProjectInlineConfiguration {
    return {
      test: {
        ...COMMON,
        name,
        include: [include],
        exclude: [...configDefaults.exclude, ...left, ...exclude],
        env: { TEST_BUDGET: budget },
        // Each project has its own: that of the root is not handed on.
        ...(budget === 'quick' && { tagsFilter: [`!${SLOW_TAG}`] }),
        ...options,
      },
    }
  }

  return {
    test: {
      globalSetup: ['test/support/build.ts'],
      reporters: ['default', new LeftOut(budget)],
      sequence: { sequencer: SlowFirst },
      tags: [
        { name: SLOW_TAG, description: 'takes long; npm test leaves it out' },
        {
          name: 'original',
          description: 'reads the text of sources, or changes its process; mutation testing leaves it out',
        },
      ],
      // As many as there are cores: by default, one core would be left to what hands out the files, which is idle.
      maxWorkers: availableParallelism(),
      projects: [
        // What files share is loaded, and the contract compiled, once for each worker and not for each file.
        project('shared', 'test/**/*.test.ts', { exclude: [BROWSER, ISOLATED], isolate: false }),
        project('isolated', ISOLATED),
        ...(budget === 'quick' ? [] : [project('browser', BROWSER, { isolate: false })]),
      ],
    },
  }
})
