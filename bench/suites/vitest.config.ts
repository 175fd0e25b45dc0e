import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['fresh-account.mjs', 'shared-express.mjs'],
    // A process for each, one after the other: its processor time is that of its tests.
    pool: 'forks',
    fileParallelism: false,
    // An installed package is loaded as it is, too.
    server: { deps: { external: [/\/dist\//] } },
  },
})
