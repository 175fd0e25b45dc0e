// Makes what is missing, waits before it tries again, and looks at the state before each try.
import { watch } from './watch.mjs'

await watch().catch((error) => {
  console.error(`The domains are not watched: ${error.message}`)
  process.exitCode = 1
})
