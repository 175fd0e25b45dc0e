import { createListener } from './actions.ts'
import { addPart } from './chosen-account.ts'
import { call } from './client.ts'
import { setClock } from './clock.ts'
import { findById, options } from './elements.ts'
import { BASE_URL, FACTS } from './facts.ts'
import { DEFAULT_ACCOUNT, selection } from './selection.ts'
import { showTally } from './tabs.ts'

const plans = findById('plan', HTMLSelectElement)
const deletion = findById('account-delete', HTMLButtonElement)

export function startAccountSummary(): void {
  plans.replaceChildren(...options(FACTS.plans))
  plans.addEventListener('change', createListener(changePlan))
  addPart({ load: loadAccount })
}

/** Loads the account's plan, its clock, and the numbers beside the names of the tabs. */
export async function loadAccount(): Promise<void> {
  const chosen = selection.account
  const { account, api_key } = await call('getAccount')
  if (chosen !== selection.account) return
  showCommand(api_key)
  const { plan, domains, keys, faults, snapshots } = account
  setClock(account)
  if (!FACTS.plans.includes(plan)) plans.add(new Option(plan))
  // A list that is open must not change under the pointer.
  if (document.activeElement !== plans) plans.value = plan
  showTally('domains', domains)
  showTally('keys', keys)
  showTally('faults', faults)
  showTally('snapshots', snapshots)
  deletion.disabled = chosen === DEFAULT_ACCOUNT
}

/** A command to try. The key is in it where it is no secret. */
function showCommand(key: string | null): void {
  const header = key === null ? '"Authorization: Bearer $API_KEY"' : quote(`Authorization: Bearer ${key}`)
  const command = `curl -sS -H ${header} ${BASE_URL}/domains`
  const line = findById('curl-line', HTMLElement)
  if (line.textContent !== command) line.textContent = command
}

/** A word of a POSIX shell. */
function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

async function changePlan(): Promise<void> {
  try {
    await call('updateAccount', { body: { plan: plans.value } })
  } finally {
    plans.blur()
    await loadAccount()
  }
}
