import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Megabytes of the heap that are in use, without what is garbage already. */
export function heapInUse(): number {
  collect()
  return process.memoryUsage().heapUsed / 2 ** 20
}
