import { effect, signal } from '@preact/signals'
import type { Overview } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { overview } from './overview.ts'

/** The earlier overview of the comparison; `undefined` without a comparison. */
export const before = signal<Overview | undefined>(undefined)

/** Ends the comparison. The next refresh begins a new one. */
export function closeComparison(): void {
  before.value = undefined
}

/**
 * Begins a comparison when the clock of the chosen account passes a refresh, whichever client moved it. It continues
 * until the user closes it, so it can cover several refreshes. It ends if the account is set back.
 */
export function followRefreshes(): void {
  let account: string | undefined
  let shown: Overview | undefined
  effect(() => {
    const chosen = chosenAccount.value
    const present = overview.data.value
    if (chosen !== account) {
      account = chosen
      shown = undefined
      before.value = undefined
    }
    if (present === undefined) return
    const [first, last] = [before.peek() ?? shown, shown].map((each) => each && Date.parse(each.refreshed_at))
    const now = Date.parse(present.refreshed_at)
    if (last !== undefined && now > last) before.value = before.peek() ?? shown
    else if (first !== undefined && now <= first && before.peek() !== undefined) before.value = undefined
    shown = present
  })
}
