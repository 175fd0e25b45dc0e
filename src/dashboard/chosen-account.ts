import { call } from './client.ts'
import { findById, options } from './elements.ts'
import { showFailure, showNote } from './notices.ts'
import { readAll } from './paging.ts'
import { Refused } from './refusals.ts'
import { DEFAULT_ACCOUNT, rememberSelection, selection, TABS, type Tab } from './selection.ts'

/** A part of the page that shows something of the chosen account. */
export interface Part {
  /** The tab that shows it; a part without one is always visible. */
  tab?: Tab
  load?(): Promise<void>
  /** Drops the data of the account that was chosen before. */
  forget?(): void
}

const picker = findById('account', HTMLSelectElement)
const parts: Part[] = []

/** Adds a part, which is loaded and cleared together with the others. */
export function addPart(part: Part): void {
  parts.push(part)
}

/** Loads what the open tab shows. With a list of tabs, it does so only if the open tab is one of them. */
export async function refreshTab(tabs: readonly Tab[] = TABS): Promise<void> {
  const { tab } = selection
  if (tabs.includes(tab)) await Promise.all(parts.filter((part) => part.tab === tab).map((part) => part.load?.()))
}

/** Loads everything that is visible, except the requests, which arrive as a stream. */
export async function refreshAll(): Promise<void> {
  const visible = parts.filter(({ tab }) => tab === undefined)
  const outcomes = await Promise.allSettled([...visible.map((part) => part.load?.()), refreshTab()])
  if (outcomes.some((outcome) => outcome.status === 'rejected' && isLoss(outcome.reason))) await leaveLostAccount()
}

/** Fills the list of accounts. If the chosen account is missing, it chooses the default account. */
export async function loadAccounts(): Promise<void> {
  const accounts = await readAll(
    (query) => call('listAccounts', { query }),
    (page) => page.accounts,
  )
  const ids = accounts.map(({ id }) => id)
  picker.replaceChildren(...options(ids))
  if (ids.includes(selection.account)) picker.value = selection.account
  else if (ids.includes(DEFAULT_ACCOUNT)) chooseAccount(DEFAULT_ACCOUNT)
}

export function chooseAccount(account: string): void {
  if (![...picker.options].some(({ value }) => value === account)) picker.add(new Option(account))
  selection.account = account
  picker.value = account
  rememberSelection()
  for (const part of parts) part.forget?.()
  refreshAll().catch(showFailure)
}

/** Whether an error says that the chosen account does not exist any more. The default account always exists. */
export function isLoss(error: unknown): boolean {
  return error instanceof Refused && error.status === 404 && selection.account !== DEFAULT_ACCOUNT
}

/** Chooses the default account in place of one that does not exist any more. */
export async function leaveLostAccount(): Promise<void> {
  showNote(`The account ${selection.account} does not exist any more.`)
  try {
    await loadAccounts()
  } catch {
    // The server does not answer; the stream of requests says so and tries again.
    return
  }
  chooseAccount(DEFAULT_ACCOUNT)
}
