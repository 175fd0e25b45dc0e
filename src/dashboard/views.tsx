import { effect } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { AccountView } from './account/view.tsx'
import { CoverageView } from './coverage/view.tsx'
import { DomainsView } from './domains/view.tsx'
import { FaultsView } from './faults/view.tsx'
import { formatNumber } from './formatting.ts'
import { GroupsView } from './groups/view.tsx'
import { OverviewView } from './overview/view.tsx'
import { chosenAccount, DEFAULT_ACCOUNT, go, Link, openView, TABS, type View } from './place.tsx'
import { isNotFound } from './refusals.ts'
import { RequestsView } from './requests/view.tsx'
import type { Account } from './responses.ts'
import { ScenesView } from './scenes/view.tsx'
import { summary } from './sources.ts'
import { TimeView } from './time/clock.tsx'
import { Loaded } from './ui/loaded.tsx'
import { showNote } from './ui/notices.tsx'
import { VerdictView } from './verdict/verdict.tsx'

interface ViewParts {
  title: string
  Content: FunctionComponent
  /** A number beside the title. */
  tally?(account: Account): number
}

const VIEWS: Readonly<Record<View, ViewParts>> = {
  overview: { title: 'Overview', Content: OverviewView },
  domains: { title: 'Domains', Content: DomainsView, tally: ({ domains }) => domains },
  groups: { title: 'Groups', Content: GroupsView, tally: ({ groups }) => groups },
  requests: { title: 'Requests', Content: RequestsView },
  time: { title: 'Time', Content: TimeView },
  scenes: { title: 'Scenes', Content: ScenesView },
  faults: { title: 'Faults', Content: FaultsView, tally: ({ faults }) => faults },
  account: { title: 'Account', Content: AccountView },
  coverage: { title: 'Coverage', Content: CoverageView },
  verdict: { title: 'Verdict', Content: VerdictView },
}

/** Names the open view in the title of the page, so that the history and the tabs of the browser tell the views apart. */
export function followTitle(): void {
  const product = document.title
  effect(() => {
    const view = openView.value
    document.title = view === undefined ? product : `${VIEWS[view].title}, ${chosenAccount.value} – ${product}`
  })
}

/** The links to the views. On a narrow screen, their row scrolls. */
export function Navigation() {
  const open = openView.value
  const account = summary.use().data?.account
  const row = useRef<HTMLElement>(null)
  useEffect(() => {
    const [outer, inner] = [row.current, row.current?.querySelector('[aria-current]')]
    if (!outer || !inner) return
    const [place, link] = [outer.getBoundingClientRect(), inner.getBoundingClientRect()]
    outer.scrollLeft += link.left + link.width / 2 - (place.left + place.width / 2)
  }, [open, account])
  return (
    <nav ref={row} class="views" aria-label="Views of the account">
      {TABS.map((view) => {
        const { title, tally } = VIEWS[view]
        return (
          <Link key={view} view={view} current={view === open && 'page'}>
            {title} {tally && <span class="tally">{account && formatNumber(tally(account))}</span>}
          </Link>
        )
      })}
    </nav>
  )
}

/** The open view. Without one in the address, it is the overview for an account with domains, or else the requests. */
export function OpenView() {
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
  if (view === undefined)
    return (
      <Loaded of={loaded} what="the account">
        {() => null}
      </Loaded>
    )
  const { title, Content } = VIEWS[view]
  // What somebody has typed or selected does not apply to another account.
  return (
    <section key={`${view} ${account}`} class={`view ${view}`} aria-label={title}>
      <Content />
    </section>
  )
}
