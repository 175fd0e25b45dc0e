import { build } from 'rolldown'

await build({
  input: process.argv[2],
  external: /^@?[a-z]/,
  platform: 'node',
  output: { dir: process.argv[3], entryFileNames: '[name].js' },
})
