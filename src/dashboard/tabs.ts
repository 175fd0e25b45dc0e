import { refreshTab } from './chosen-account.ts'
import { findById, findWithin } from './elements.ts'
import { showFailure } from './notices.ts'
import { rememberSelection, selection, TABS, type Tab } from './selection.ts'

/** Shows a number, or another short text, beside the name of a tab. */
export function showTally(tab: Tab, tally: number | string): void {
  findWithin(buttonOf(tab), '.tally', HTMLElement).textContent = tally.toLocaleString('en')
}

export function openTab(tab: Tab): void {
  selection.tab = tab
  for (const each of TABS) {
    const chosen = each === tab
    buttonOf(each).ariaSelected = String(chosen)
    buttonOf(each).tabIndex = chosen ? 0 : -1
    findById(`panel-${each}`, HTMLElement).hidden = !chosen
  }
  rememberSelection()
  refreshTab().catch(showFailure)
}

export function startTabs(): void {
  for (const [index, tab] of TABS.entries()) {
    buttonOf(tab).addEventListener('click', () => openTab(tab))
    buttonOf(tab).addEventListener('keydown', ({ key }) => {
      const next = neighbourOf(index, key)
      if (next === undefined) return
      openTab(next)
      buttonOf(next).focus()
    })
  }
}

/** The tab that a key moves to. */
function neighbourOf(index: number, key: string): Tab | undefined {
  switch (key) {
    case 'ArrowRight':
      return TABS[(index + 1) % TABS.length]
    case 'ArrowLeft':
      return TABS.at(index - 1)
    case 'Home':
      return TABS[0]
    case 'End':
      return TABS.at(-1)
    default:
      return undefined
  }
}

function buttonOf(tab: Tab): HTMLButtonElement {
  return findById(`tab-${tab}`, HTMLButtonElement)
}
