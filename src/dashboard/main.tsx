import { render } from 'preact'
import { poll, refreshShown } from './data.ts'
import { isOffered } from './facts.ts'
import { Header } from './header.tsx'
import { connection, followRequests, trouble } from './live.ts'
import { Places } from './place.tsx'
import { Refused } from './refusals.ts'
import { StoryBar } from './scenes/bar.tsx'
import { followStory } from './scenes/story.ts'
import { UnfinishedStory } from './scenes/unfinished.tsx'
import { Dialogs } from './ui/dialog.tsx'
import { ErrorText, showFailure, Toasts } from './ui/notices.tsx'
import { followTitle, OpenView } from './views.tsx'

// The page is a normal client of the control plane. Any client can send any text to the service, so the page shows such
// text only as text nodes, never as markup.

/** What other clients of the control plane change appears within this time. */
const MILLISECONDS_BETWEEN_POLLS = 20_000

// The browser paints the name of the page from the document only if scripts do not block it.
if (document.hidden) startPage()
else requestAnimationFrame(() => setTimeout(startPage))

function startPage(): void {
  const place = document.getElementById('page')
  if (place === null) throw new Error('The page has no place for its content.')
  place.replaceChildren()
  render(
    <Places>
      <Page />
    </Places>,
    place,
  )
  followTitle()
  followRequests().catch(showFailure)
  if (isOffered('listScenes')) followStory()
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

function Page() {
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector('main')?.focus()}>
        Skip to the view
      </button>
      <Header />
      <Trouble />
      {isOffered('listSnapshots') && <UnfinishedStory />}
      <main tabIndex={-1}>
        <OpenView />
      </main>
      <StoryBar />
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
