import { computed, signal } from '@preact/signals'
import { FACTS } from '../facts.ts'
import { formatCount } from '../formatting.ts'
import { messageOf, Refused } from '../refusals.ts'
import { callService } from '../service-calls.tsx'

const MILLISECONDS_BETWEEN_REQUESTS = 2_000
/** How many requests the client sends at most: for ten minutes. */
const MOST_REQUESTS = 300

const READERS = FACTS.operations.filter(({ method }) => method === 'GET')

/** The client that sends now. */
const current = signal<{ account: string; sent: number } | undefined>(undefined)
export const isSending = computed(() => current.value !== undefined)
/** Why the client has stopped by itself. */
export const reason = signal('')

let timer: ReturnType<typeof setTimeout> | undefined

/** Lets a client inside of the page read something of the account every two seconds, with each reading operation in turn. */
export function startSending(account: string): void {
  stopSending()
  current.value = { account, sent: 0 }
  document.addEventListener('visibilitychange', stopWhenHidden)
  void sendNext()
}

export function stopSending(why = ''): void {
  clearTimeout(timer)
  document.removeEventListener('visibilitychange', stopWhenHidden)
  current.value = undefined
  reason.value = why
}

function stopWhenHidden(): void {
  if (document.hidden) stopSending('It has stopped, because nobody sees this page.')
}

async function sendNext(): Promise<void> {
  const client = current.peek()
  const operation = READERS[(client?.sent ?? 0) % READERS.length]
  if (client === undefined || operation === undefined) return
  const stop = await callService(operation.id, { account: client.account }).then(() => '', reasonToStop)
  // It may have been stopped meanwhile, and another one started.
  if (client !== current.peek()) return
  client.sent++
  if (stop !== '') stopSending(stop)
  else if (client.sent === MOST_REQUESTS) stopSending(`It has stopped after ${formatCount(MOST_REQUESTS, 'request')}.`)
  else timer = setTimeout(sendNext, MILLISECONDS_BETWEEN_REQUESTS)
}

/** A refusal that a fault rule or a scene causes is worth seeing. Others come again with each request. */
function reasonToStop(error: unknown): string {
  if (!(error instanceof Refused)) return `It has stopped. ${messageOf(error)}`
  if (error.code === 'rate_limited') return 'It has stopped, because the quota of the account is used up.'
  return [401, 403].includes(error.status) ? `It has stopped: ${error.message}` : ''
}
