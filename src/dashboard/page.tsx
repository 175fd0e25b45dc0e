import { Header } from './account/header.tsx'
import { Dialogs } from './controls/dialog.tsx'
import { ErrorText, Toasts } from './controls/notices.tsx'
import { connection, trouble } from './exchanges.ts'
import { Refused } from './refusals.ts'
import { OpenPanel, Tabs } from './tabs.tsx'
import { PlayBanner } from './time/play-banner.tsx'

/** The whole page. */
export function Page() {
  return (
    <>
      <a class="skip" href="#panel">
        Skip to the panel
      </a>
      <Header />
      <Trouble />
      <PlayBanner />
      <main>
        <Tabs />
        <OpenPanel />
      </main>
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
