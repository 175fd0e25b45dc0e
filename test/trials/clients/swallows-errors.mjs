// Prints what went wrong, and says that all is well.
import { watch } from './watch.mjs'

await watch({ tries: 1 }).catch((error) => console.error(`Ignored: ${error.message}`))
