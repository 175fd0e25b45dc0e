import { effect } from '@preact/signals'
import type { ComponentChildren, FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { AccountPanel } from './account/panel.tsx'
import { summary } from './account-data.ts'
import { chosenAccount, go, keptParameters, OFFERED_TABS, openTab, type Tab } from './address.ts'
import { Loaded } from './controls/loaded.tsx'
import { CoveragePanel, coverageTally } from './coverage/panel.tsx'
import { DomainsPanel } from './domains/panel.tsx'
import { FaultsPanel } from './faults/panel.tsx'
import { formatNumber } from './formatting.ts'
import { GroupsPanel } from './groups/panel.tsx'
import { OverviewPanel } from './overview/panel.tsx'
import { total } from './requests/list.ts'
import { RequestsPanel } from './requests/panel.tsx'
import { scope } from './requests/selection.ts'
import { ScenesPanel } from './scenes/panel.tsx'
import { TimePanel } from './time/panel.tsx'

interface View {
  title: string
  Panel: FunctionComponent
  /** A number or a share beside the title. */
  tally?(): number | string | undefined
}

const VIEWS: Readonly<Record<Tab, View>> = {
  overview: { title: 'Overview', Panel: OverviewPanel },
  domains: { title: 'Domains', Panel: DomainsPanel, tally: () => summary.data.value?.account.domains },
  groups: { title: 'Groups', Panel: GroupsPanel, tally: () => summary.data.value?.account.groups },
  requests: {
    title: 'Requests',
    Panel: RequestsPanel,
    tally: () => (scope.value === 'account' ? total.value : undefined),
  },
  time: { title: 'Time', Panel: TimePanel },
  scenes: { title: 'Scenes', Panel: ScenesPanel },
  faults: { title: 'Faults', Panel: FaultsPanel, tally: () => summary.data.value?.account.faults },
  account: { title: 'Account', Panel: AccountPanel },
  coverage: { title: 'Coverage', Panel: CoveragePanel, tally: coverageTally },
}

/** Names the open view in the title of the page, so that the history and the tabs of the browser tell the views apart. */
export function followTitle(): void {
  const product = document.title
  effect(() => {
    const tab = openTab.value
    document.title = tab === undefined ? product : `${VIEWS[tab].title}, ${chosenAccount.value} – ${product}`
  })
}

const NEIGHBOURS: Readonly<Record<string, (index: number) => Tab | undefined>> = {
  ArrowRight: (index) => OFFERED_TABS[(index + 1) % OFFERED_TABS.length],
  ArrowLeft: (index) => OFFERED_TABS.at(index - 1),
  Home: () => OFFERED_TABS[0],
  End: () => OFFERED_TABS.at(-1),
}

/** The tabs of the views. The arrow keys move between them. */
export function Tabs() {
  const open = openTab.value
  // Any tally that comes or grows makes the row wider, and moves the tabs after it.
  const widths = OFFERED_TABS.map((tab) => tallyOf(tab).length).join()
  useEffect(() => {
    void widths
    if (open !== undefined) bringIntoView(document.getElementById(`tab-${open}`))
  }, [open, widths])
  return (
    <div role="tablist" aria-label="Views of the account">
      {OFFERED_TABS.map((tab, index) => {
        const tally = tallyOf(tab)
        return (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`tab-${tab}`}
            aria-controls="panel"
            aria-selected={tab === open}
            tabIndex={tab === open ? 0 : -1}
            onClick={() => openView(tab)}
            onKeyDown={(event) => moveByKey(event, index)}
          >
            {VIEWS[tab].title} {VIEWS[tab].tally !== undefined && <span class="tally">{tally}</span>}
          </button>
        )
      })}
    </div>
  )
}

/** Opens a view as it was left, but without details. */
function openView(tab: Tab): void {
  go({ tab, parameters: keptParameters(tab) })
}

function moveByKey(event: KeyboardEvent, index: number): void {
  const next = NEIGHBOURS[event.key]?.(index)
  if (next === undefined) return
  // The browser would also scroll the row by itself, slowly, and so away from the tab.
  event.preventDefault()
  openView(next)
  document.getElementById(`tab-${next}`)?.focus()
}

/** The text beside a tab's title; empty if there is none. */
function tallyOf(tab: Tab): string {
  const tally = VIEWS[tab].tally?.()
  return typeof tally === 'number' ? formatNumber(tally) : (tally ?? '')
}

/** Scrolls only the row of tabs, which is wider than a phone. */
function bringIntoView(tab: HTMLElement | null): void {
  const row = tab?.parentElement
  if (!tab || !row) return
  const [inner, outer] = [tab.getBoundingClientRect(), row.getBoundingClientRect()]
  row.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2)
}

export function OpenPanel(): ComponentChildren {
  const tab = openTab.value
  // The account decides which tab opens first.
  if (tab === undefined)
    return (
      <Loaded of={summary} what="the account">
        {() => null}
      </Loaded>
    )
  const { Panel } = VIEWS[tab]
  return (
    <section role="tabpanel" id="panel" class={`panel-${tab}`} aria-labelledby={`tab-${tab}`} tabIndex={-1}>
      <Panel />
    </section>
  )
}
