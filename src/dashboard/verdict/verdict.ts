import { computed, signal } from '@preact/signals'
import { call } from '../client.ts'
import type { Tone } from '../controls/marks.tsx'
import { connection } from '../exchanges.ts'
import { PLAYS_SERVICE } from '../facts.ts'
import { formatCount } from '../formatting.ts'
import { createResource } from '../resource.ts'
import type { Verdict } from '../responses.ts'

const MILLISECONDS_AFTER_REQUEST = 400
/** The verdict covers all accounts, but the stream has only the requests of one. So the verdict is loaded regularly. */
const MILLISECONDS_BETWEEN_LOADS = 2_000
/** After this time without an answer, the verdict counts as old. */
const MILLISECONDS_UNTIL_OLD = 4_000

/** The subject of the verdict. A proxy does not know accounts. */
export const SCOPE = PLAYS_SERVICE ? 'all accounts' : 'all clients'

/** Whether the clients of all accounts complied with the contract. */
export const verdict = createResource({ load: loadVerdict, afterRequests: MILLISECONDS_AFTER_REQUEST, shared: true })

/** Whether the last answer of the server is too old. */
const old = signal(false)
let watchdog: ReturnType<typeof setTimeout> | undefined

interface ShownVerdict {
  tone: Tone
  words: string
}

/** The verdict for display. It is green only while the server confirms it. */
export const shownVerdict = computed((): ShownVerdict => {
  const isCurrent = connection.value !== 'lost' && verdict.failure.value === undefined && !old.value
  const report = verdict.data.value
  return report === undefined || !isCurrent ? { tone: '', words: 'verdict unknown' } : describe(report)
})

/** Loads the verdict regularly while the page is visible. */
export function followVerdict(): void {
  function load(): void {
    if (!document.hidden) verdict.refresh().catch(() => undefined)
  }
  setInterval(load, MILLISECONDS_BETWEEN_LOADS)
  document.addEventListener('visibilitychange', load)
}

/** Clears the counted violations of all accounts. */
export async function clearVerdict(): Promise<void> {
  await call('clearVerdict')
  await verdict.refresh()
}

async function loadVerdict(): Promise<Verdict> {
  const report = await call('getVerdict')
  old.value = false
  clearTimeout(watchdog)
  watchdog = setTimeout(() => {
    old.value = true
  }, MILLISECONDS_UNTIL_OLD)
  return report
}

function describe({ passed, requests, violations: { count }, service }: Verdict): ShownVerdict {
  const findings = service?.findings ?? 0
  const wrong = [
    ...(count > 0 ? [formatCount(count, 'violation')] : []),
    ...(findings > 0 ? [`${formatCount(findings, 'finding')} against the service`] : []),
  ]
  if (wrong.length > 0) return { tone: 'bad', words: wrong.join(', ') }
  if (passed) return { tone: 'good', words: 'kept the contract' }
  // Without a checked request, the verdict has not passed, but no client has failed.
  return { tone: '', words: requests === 0 ? 'no request yet' : 'nothing checked yet' }
}
