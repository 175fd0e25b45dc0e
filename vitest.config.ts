import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

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

/** Take longest with the full budget, from above half a minute down to ten seconds. */
const LONGEST = [
  'evidence/verify/independent',
  'evidence/verify/completeness',
  'evidence/sessions/soundness',
  'model/model',
  'admin/past-memory',
  'trials/vary/exhaustive',
  'examples/languages',
  'trials/explore/clients',
  'coverage/gap-requests',
  'contract/assumptions',
  'dashboard/views.browser',
  'dashboard/requests.browser',
  'dashboard/domains.browser',
  'dashboard/time.browser',
]

/**
 * Begins with the files that take longest: one that begins last is waited for while all other processors are idle. By
 * default, a clone that has run no test yet begins with the largest files.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
      return place < 0 ? LONGEST.length : place
    }
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other))
  }
}

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
    sequence: { sequencer: LongestFirst },
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
