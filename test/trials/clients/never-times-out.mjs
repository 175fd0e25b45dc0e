// Waits for a response for as long as it takes.
import { watch } from './watch.mjs'

await watch({ timeout: 0 }).catch((error) => {
  console.error(`The domains are not watched: ${error.message}`)
  process.exitCode = 1
})
