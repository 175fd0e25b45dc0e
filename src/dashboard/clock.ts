import { onClick } from './actions.ts'
import { refreshTab } from './chosen-account.ts'
import { call } from './client.ts'
import { findAll, findById } from './elements.ts'
import { formatInstant } from './formatting.ts'
import { loadQuotas } from './quotas.ts'
import type { Clock } from './responses.ts'

const MILLISECONDS_OF_TICK = 1_000

const clock = findById('clock', HTMLTimeElement)
const motion = findById('clock-state', HTMLElement)
const freeze = findById('freeze', HTMLButtonElement)

/** What the account's clock showed, and when that was, in milliseconds of the browser's own clock. */
let reading: { now: number; frozen: boolean; at: number } | undefined

export function setClock({ now, frozen }: Clock): void {
  reading = { now: Date.parse(now), frozen, at: performance.now() }
  tick()
}

export function startClock(): void {
  onClick(freeze, async () => setClock(await call('updateClock', { body: { frozen: !reading?.frozen } })))
  for (const button of findAll(document, '[data-advance]', HTMLButtonElement)) {
    onClick(button, () => advance(button.dataset['advance'] ?? ''))
  }
  setInterval(tick, MILLISECONDS_OF_TICK)
}

async function advance(duration: string): Promise<void> {
  setClock(await call('updateClock', { body: { advance: duration } }))
  await Promise.all([loadQuotas(), refreshTab()])
}

function tick(): void {
  if (reading === undefined) return
  const { now, frozen, at } = reading
  const shown = new Date(now + (frozen ? 0 : performance.now() - at)).toISOString()
  clock.textContent = formatInstant(shown)
  clock.dateTime = shown
  clock.classList.toggle('frozen', frozen)
  motion.textContent = frozen ? 'frozen' : 'running'
  freeze.textContent = frozen ? 'Unfreeze' : 'Freeze'
}
