import { loadAccount } from './account-summary.ts'
import { onClick } from './actions.ts'
import { addPart, isLoss, leaveLostAccount, refreshAll, refreshTab } from './chosen-account.ts'
import { call, send } from './client.ts'
import { findById } from './elements.ts'
import { describeError, setContent, showFailure } from './notices.ts'
import { loadQuotas } from './quotas.ts'
import { Refused, Unreachable } from './refusals.ts'
import { addRequest, emptyRequests, listedRequests, loadRequests, showsEveryone } from './requests.ts'
import type { JournalEntry } from './responses.ts'
import { readEvents } from './server-sent-events.ts'

const LONGEST_PAUSE = 5_000
const SHORTEST_PAUSE = 250

const connection = findById('connection', HTMLElement)
const notice = findById('notice', HTMLElement)

/** Aborts the stream that is being read. */
let current: AbortController | undefined

/** These load what a request can change, a little later and once for all requests that arrive until then. */
const refreshes = [
  throttle(400, loadQuotas),
  throttle(400, loadAccount),
  throttle(600, () => refreshTab(['faults'])),
  throttle(1_500, () => refreshTab(['domains', 'coverage'])),
]

/** Shows requests as they happen, as long as the page is open. */
export function startRequestStream(): void {
  addPart({ forget: restartStream })
  findById('everyone', HTMLInputElement).addEventListener('change', restartStream)
  onClick(findById('requests-clear', HTMLButtonElement), async () => {
    await call('clearRequests')
    restartStream()
  })
  follow().catch(showFailure)
}

/** Whether the page shows that the server does not answer. */
export function isServerAway(): boolean {
  return !notice.hidden
}

/** Empties the list of requests, and starts again with the requests in the journal. */
export function restartStream(): void {
  emptyRequests()
  current?.abort()
}

/** Never ends. After each interruption, it starts again with the requests in the journal. */
async function follow(): Promise<void> {
  for (let failures = 0; ; ) {
    current = new AbortController()
    const { signal } = current
    let trouble: unknown
    try {
      await loadRequests()
      if (signal.aborted) continue
      const headers = { 'last-event-id': String(listedRequests()[0]?.ordinal ?? 0) }
      const response = await send(showsEveryone() ? 'streamAllEvents' : 'streamEvents', { headers, signal })
      showLive()
      if (failures > 0) refreshAll().catch(showFailure)
      failures = 0
      for await (const entry of readEvents(response)) {
        if (signal.aborted) break
        receive(entry)
      }
    } catch (error) {
      trouble = error
      if (!signal.aborted && isLoss(error)) await leaveLostAccount()
    }
    if (signal.aborted) continue
    failures += 1
    if (failures > 1) showTrouble(trouble)
    await new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** failures)))
  }
}

function receive(entry: JournalEntry): void {
  addRequest(entry)
  for (const refresh of refreshes) refresh()
}

function showLive(): void {
  connection.textContent = 'Live'
  connection.className = 'pill good'
  setContent(notice)
}

function showTrouble(trouble: unknown): void {
  connection.textContent = 'Reconnecting…'
  connection.className = 'pill bad'
  if (trouble instanceof Refused) setContent(notice, describeError(trouble))
  else {
    const cause = trouble instanceof Unreachable ? trouble.message : 'The connection was lost.'
    setContent(notice, `${cause} The page shows old data and tries again…`)
  }
}

/** Delays the work by `pause` milliseconds, and does it once for all calls until then. */
function throttle(pause: number, work: () => Promise<void>): () => void {
  let waiting = false
  return () => {
    if (waiting) return
    waiting = true
    setTimeout(() => {
      waiting = false
      // The data is loaded again soon, and the stream shows when the server does not answer.
      work().catch(() => undefined)
    }, pause)
  }
}
