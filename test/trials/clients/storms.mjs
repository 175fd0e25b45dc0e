// Tries again at once, and does not wait until it may.
import { watch } from './watch.mjs'

await watch({ patient: false, tries: 200, delay: 0 }).catch((error) => {
  console.error(`The domains are not watched: ${error.message}`)
  process.exitCode = 1
})
