// Waits for the same time after each failure, also after a 429.
import { watch } from './watch.mjs'

await watch({ patient: false, delay: 1500 }).catch((error) => {
  console.error(`The domains are not watched: ${error.message}`)
  process.exitCode = 1
})
