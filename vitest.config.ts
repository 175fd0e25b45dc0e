import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/cli/build.ts'],
    testTimeout: 30_000,
  },
})
