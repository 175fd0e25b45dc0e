// How flat the figures of a soak are to be, and whether they are.
import { judgeBeside, judgeTrend, trendOf } from './trend.mjs'

/**
 * Figure of a window → by how much it may grow over the last two thirds, as a share, and the same figure of a server that does
 * nothing, where the machine has a share in it. What lives after a collection is the truest figure of memory, so it has the
 * lowest limit; the processor time of a request is truer than the time that a client waits, which has all noise of the machine.
 */
const LIMITS = {
  liveMebibytes: { work: 'live memory', limit: 0.03 },
  residentMebibytes: { work: 'resident memory', limit: 0.1 },
  cpuMicroseconds: { work: 'processor time of a request', limit: 0.1, reference: 'referenceCpuMicroseconds' },
  p99Ms: { work: 'p99', limit: 0.3, reference: 'referenceP99Ms' },
}

/** Of each server and figure: how much it grew in the last two thirds, and whether it is flat. */
export function judgeSoak({ servers }) {
  return servers.flatMap(({ name, windows }) =>
    Object.entries(LIMITS).map(([key, { work, limit, reference }]) => {
      const judged = windows.slice(windows.length / 3)
      const [values, references] = [key, reference].map((each) => judged.map((window) => window[each]))
      const word = reference === undefined ? judgeTrend(trendOf(values), limit) : judgeBeside(values, references, limit)
      return { server: name, work, ...trendOf(values), limit, word }
    }),
  )
}
