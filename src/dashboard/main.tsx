import { type FunctionComponent, render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { AccountPicker, AccountView } from './account.tsx'
import { CoverageView } from './coverage.tsx'
import { connection, followRequests, refreshShown, summary, trouble } from './data.ts'
import { DomainsView } from './domains.tsx'
import { PLAYS_SERVICE } from './facts.ts'
import { FaultsView } from './faults.tsx'
import { formatNumber } from './formatting.ts'
import { GroupsView } from './groups.tsx'
import { OverviewView } from './overview.tsx'
import { chosenAccount, DEFAULT_ACCOUNT, go, Link, openView, Places, TABS, type View } from './place.tsx'
import { isNotFound, Unreachable } from './refusals.ts'
import { RequestsView } from './requests.tsx'
import type { Schemas } from './responses.ts'
import { ScenesView, StoryBar } from './scenes.tsx'
import { ClockLine, TimeView } from './time.tsx'
import { ErrorText, showFailure, showNote, Toasts } from './ui/elements.tsx'
import { Dialogs } from './ui/forms.tsx'
import { Loaded } from './ui/loaded.tsx'
import { VerdictPill, VerdictView } from './verdict.tsx'

// The page is a normal client of the control plane. Any client can send any text to the service, so the page shows such
// text only as text nodes, never as markup.

/** What other clients of the control plane change appears within this time. */
const MILLISECONDS_BETWEEN_POLLS = 20_000

type Tally = keyof Pick<Schemas['Account'], 'domains' | 'groups' | 'faults'>

/** The title of each view, its content, and what is counted beside its title. */
const VIEWS: Readonly<Record<View, readonly [title: string, Content: FunctionComponent, tally?: Tally]>> = {
  overview: ['Overview', OverviewView],
  domains: ['Domains', DomainsView, 'domains'],
  groups: ['Groups', GroupsView, 'groups'],
  requests: ['Requests', RequestsView],
  time: ['Time', TimeView],
  scenes: ['Scenes', ScenesView],
  faults: ['Faults', FaultsView, 'faults'],
  account: ['Account', AccountView],
  coverage: ['Coverage', CoverageView],
  verdict: ['Verdict', VerdictView],
}

/** Loads something again if somebody sees it and the server answers. */
function refreshSeen(what?: Parameters<typeof refreshShown>[0]): void {
  if (!document.hidden && connection.peek() !== 'lost') void refreshShown(what)
}

function Page() {
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector('main')?.focus()}>
        Skip to the view
      </button>
      <Header />
      <main tabIndex={-1} class="stack">
        <Trouble />
        <OpenView />
      </main>
      <StoryBar />
      <Dialogs />
      <Toasts />
    </>
  )
}

const STATES = { connecting: ['Connecting', ''], live: ['Live', 'good'], lost: ['Reconnecting…', 'warn'] } as const

function Header() {
  const [words, tone] = STATES[connection.value]
  return (
    <header class="top">
      <div class="row">
        <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
          <path d="M12 3l8 3v6c0 4.6-3.3 7.900-8 9-4.700-1.100-8-4.400-8-9V6z" />
          <path d="M8.500 12l2.500 2.500 4.500-5" />
        </svg>
        <h1>dmarc-understudy</h1>
        <span class={`pill ${tone}`} role="status">
          {words}
        </span>
        <VerdictPill />
        <span class="grow" />
        {PLAYS_SERVICE && <AccountPicker />}
      </div>
      <div class="row lower">
        <Navigation />
        {PLAYS_SERVICE && <ClockLine />}
      </div>
    </header>
  )
}

/** The links to the views. On a narrow screen, their row scrolls. */
function Navigation() {
  const open = openView.value
  const account = summary.use().data?.account
  const row = useRef<HTMLElement>(null)
  useEffect(() => {
    const link = row.current?.querySelector<HTMLElement>('[aria-current]')
    if (row.current && link) row.current.scrollLeft = link.offsetLeft + (link.offsetWidth - row.current.offsetWidth) / 2
  }, [open, account])
  return (
    <nav ref={row} aria-label="Views of the account">
      {TABS.map((view) => {
        const [title, , tally] = VIEWS[view]
        return (
          <Link key={view} view={view} current={view === open && 'page'}>
            {title} {tally && <small>{account && formatNumber(account[tally])}</small>}
          </Link>
        )
      })}
    </nav>
  )
}

function Trouble() {
  const isLost = connection.value === 'lost'
  return (
    <div class="refusal bad" role="alert" hidden={!isLost}>
      {isLost && <ErrorText error={trouble.value} />}
      {isLost && trouble.value instanceof Unreachable && ' The page shows old data and tries again…'}
    </div>
  )
}

/** The open view. Without one in the address, it is the overview for an account with domains, or else the requests. */
function OpenView() {
  const loaded = summary.use()
  const { data, failure } = loaded
  const view = openView.value
  const account = chosenAccount.value
  useEffect(() => {
    if (view === undefined && data !== undefined)
      go({ view: data.account.domains > 0 ? TABS[0] : 'requests' }, 'replace')
  }, [view, data])
  useEffect(() => {
    if (!isNotFound(failure) || account === DEFAULT_ACCOUNT) return
    showNote(`There is no account ${account}, so this is the account ${DEFAULT_ACCOUNT}.`)
    go({ account: DEFAULT_ACCOUNT }, 'replace')
  }, [failure, account])
  if (view === undefined) return <Loaded of={loaded} what="the account" />
  const [title, Content] = VIEWS[view]
  // The history and the tabs of the browser tell the views apart by it.
  document.title = `${title}, ${account} – dmarc-understudy`
  // What somebody has typed or selected does not apply to another account.
  return (
    <section key={`${view} ${account}`} class="view stack" aria-label={title}>
      <Content />
    </section>
  )
}

document.getElementById('page')?.replaceChildren()
render(
  <Places>
    <Page />
  </Places>,
  document.getElementById('page') ?? document.body,
)
followRequests().catch(showFailure)
setInterval(() => refreshSeen(({ isStill }) => !isStill), MILLISECONDS_BETWEEN_POLLS)
// Data may have become old while the page was hidden.
document.addEventListener('visibilitychange', () => refreshSeen())
