import { computed, signal } from '@preact/signals'
import { summary } from '../account-data.ts'
import type { RequestOf } from '../calls.ts'
import { call } from '../client.ts'
import { refreshShown } from '../resource.ts'

const MILLISECONDS_OF_TICK = 1_000

/** Changes each second. */
const tick = signal(0)

setInterval(() => {
  tick.value += 1
}, MILLISECONDS_OF_TICK)

/** The last time on the clock of the account, in milliseconds since the Unix epoch, and when it was received. */
const reading = computed(() => {
  const account = summary.data.value?.account
  return account && { now: Date.parse(account.now), frozen: account.frozen, at: performance.now() }
})

/** The time on the clock of the chosen account, in milliseconds since the Unix epoch; `undefined` until it is known. */
export const shownTime = computed(() => {
  void tick.value
  const read = reading.value
  return read && (read.frozen ? read.now : read.now + performance.now() - read.at)
})

/** Whether the clock of the chosen account is frozen; `undefined` until it is known. */
export const isFrozen = computed(() => reading.value?.frozen)

/** Changes the clock of the chosen account, and loads the data that depends on it. */
export async function changeClock(body: RequestOf<'updateClock'>['body']): Promise<void> {
  const known = summary.data.peek()
  const clock = await call('updateClock', { body })
  // The user may have chosen another account.
  if (known !== undefined && summary.data.peek()?.account.id === known.account.id) {
    summary.set({ ...known, account: { ...known.account, ...clock } })
  }
  await refreshShown()
}
