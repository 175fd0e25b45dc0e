import { configDefaults, defineConfig } from 'vitest/config'

const BROWSER = 'test/**/*.browser.test.ts'

// The tests that need a browser run with `--mode browser`, so that `npm test` asks for nothing but Node.
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'browser' ? [BROWSER] : ['test/**/*.test.ts'],
    exclude: mode === 'browser' ? configDefaults.exclude : [...configDefaults.exclude, BROWSER],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 30_000,
  },
}))
