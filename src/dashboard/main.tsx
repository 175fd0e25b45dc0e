// The page is a normal client of the control plane. Any client can send any text to the service, so the page shows such
// text only as text nodes, never as markup.
import { effect } from '@preact/signals'
import { render } from 'preact'
import { summary } from './account/summary.ts'
import { showFailure, showNote } from './controls/notices.tsx'
import { connection, followExchanges } from './exchanges.ts'
import { followRefreshes } from './overview/refreshes.ts'
import { Page } from './page.tsx'
import { followScope, requestList } from './requests/list.ts'
import { followChoice, poll, refreshShown } from './resource.ts'
import { followScene } from './scenes/highlight.ts'
import { chosenAccount, DEFAULT_ACCOUNT, followSelection, OFFERED_TABS, openTab, readAddress } from './selection.ts'
import { followVerdict } from './verdict/verdict.ts'

const MILLISECONDS_BETWEEN_POLLS = 5_000

// The browser paints the name of the page from the document only if scripts do not block it.
if (document.hidden) startPage()
else requestAnimationFrame(() => setTimeout(startPage))

function startPage(): void {
  const place = document.getElementById('page')
  if (place === null) throw new Error('The page has no place for its content.')
  readAddress()
  followSelection()
  followChoice(() => {
    showNote(`The account ${chosenAccount.peek()} does not exist any more.`)
    chosenAccount.value = DEFAULT_ACCOUNT
  })
  followRefreshes()
  openFirstTab()
  place.replaceChildren()
  render(<Page />, place)
  followScope()
  followExchanges(requestList).catch(showFailure)
  followVerdict()
  followScene()
  addEventListener('hashchange', readAddress)
  setInterval(pollWhenVisible, MILLISECONDS_BETWEEN_POLLS)
  document.addEventListener('visibilitychange', refreshWhenVisible)
}

function pollWhenVisible(): void {
  if (!document.hidden && connection.peek() !== 'lost') void poll()
}

/** Loads data that became old while the page was hidden. */
function refreshWhenVisible(): void {
  if (!document.hidden && connection.peek() !== 'lost') void refreshShown()
}

/** Opens the overview for an account with domains, and the requests for any other account. */
function openFirstTab(): void {
  effect(() => {
    const account = summary.data.value?.account
    if (account !== undefined && openTab.peek() === undefined)
      openTab.value = account.domains > 0 ? OFFERED_TABS[0] : 'requests'
  })
}
