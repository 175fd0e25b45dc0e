import { Header } from './account/header.tsx'
import { Dialogs } from './controls/dialog.tsx'
import { ErrorText, Toasts } from './controls/notices.tsx'
import { connection, trouble } from './exchanges.ts'
import { Refused } from './refusals.ts'
import { RequestSheet } from './requests/request-sheet.tsx'
import { StoryBar } from './scenes/bar.tsx'
import { UnfinishedStory } from './scenes/unfinished.tsx'
import { OpenPanel } from './tabs.tsx'
import { PlayBanner } from './time/play-banner.tsx'

/** The whole page. */
export function Page() {
  return (
    <>
      <button type="button" class="skip no-print" onClick={() => document.getElementById('panel')?.focus()}>
        Skip to the panel
      </button>
      <Header />
      <Trouble />
      <PlayBanner />
      <UnfinishedStory />
      <main>
        <OpenPanel />
      </main>
      <RequestSheet />
      <StoryBar />
      <Dialogs />
      <Toasts />
    </>
  )
}

/** Says why the server does not answer. */
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
