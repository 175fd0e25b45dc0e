import { effect } from '@preact/signals'
import { render } from 'preact'
import { Header } from './account/header.tsx'
import { summary } from './account-data.ts'
import { chosenAccount, DEFAULT_ACCOUNT, followPlace, go, OFFERED_TABS, openTab, readAddress } from './address.ts'
import { Dialogs } from './controls/dialog.tsx'
import { ErrorText, showFailure, showNote, Toasts } from './controls/notices.tsx'
import { connection, followExchanges, trouble } from './exchanges.ts'
import { Refused } from './refusals.ts'
import { followScope, requestList } from './requests/list.ts'
import { followChoice, poll, refreshShown } from './resource.ts'
import { StoryBar } from './scenes/bar.tsx'
import { followScene } from './scenes/highlight.ts'
import { telling } from './scenes/story.ts'
import { followStory } from './scenes/story-place.ts'
import { UnfinishedStory } from './scenes/unfinished.tsx'
import { followTitle, OpenPanel } from './tabs.tsx'

// The page is a normal client of the control plane. Any client can send any text to the service, so the page shows such
// text only as text nodes, never as markup.

/** What other clients of the control plane change appears within ten seconds. */
const MILLISECONDS_BETWEEN_POLLS = 9_000

// The browser paints the name of the page from the document only if scripts do not block it.
if (document.hidden) startPage()
else requestAnimationFrame(() => setTimeout(startPage))

function startPage(): void {
  const place = document.getElementById('page')
  if (place === null) throw new Error('The page has no place for its content.')
  readAddress()
  followPlace()
  followTitle()
  followChoice(() => {
    showNote(`There is no account ${chosenAccount.peek()}, so this is the account ${DEFAULT_ACCOUNT}.`)
    go({ account: DEFAULT_ACCOUNT }, 'replace')
  })
  openFirstTab()
  place.replaceChildren()
  render(<Page />, place)
  followScope()
  followExchanges(requestList).catch(showFailure)
  followScene()
  followStory().catch(showFailure)
  setInterval(whenVisible(poll), MILLISECONDS_BETWEEN_POLLS)
  // Data may have become old while the page was hidden.
  document.addEventListener('visibilitychange', whenVisible(refreshShown))
}

/** Loads something if somebody sees it and the server answers. */
function whenVisible(load: () => Promise<void>): () => void {
  return () => {
    if (!document.hidden && connection.peek() !== 'lost') void load()
  }
}

/** Opens the overview for an account with domains, and the requests for any other account. */
function openFirstTab(): void {
  effect(() => {
    const account = summary.data.value?.account
    if (account !== undefined && openTab.peek() === undefined)
      go({ tab: account.domains > 0 ? OFFERED_TABS[0] : 'requests' }, 'replace')
  })
}

export function Page() {
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('panel')?.focus()}>
        Skip to the panel
      </button>
      <Header />
      <Trouble />
      <UnfinishedStory />
      <main>
        <OpenPanel />
      </main>
      {telling.value !== undefined && <StoryBar />}
      <Dialogs />
      <Toasts />
    </>
  )
}

function Trouble() {
  const lost = connection.value === 'lost'
  const cause = trouble.value
  return (
    <div id="notice" class="bad" role="alert" hidden={!lost}>
      {lost && <ErrorText error={cause} />}
      {lost && !(cause instanceof Refused) && ' The page shows old data and tries again…'}
    </div>
  )
}
