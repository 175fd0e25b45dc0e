import { button, onClick } from './actions.ts'
import { addPart, refreshTab } from './chosen-account.ts'
import { call } from './client.ts'
import { badge, element, findById } from './elements.ts'
import { formatCount, formatJson } from './formatting.ts'
import { cardItem, fillList, listItem } from './lists.ts'
import { showNote } from './notices.ts'
import { readAll } from './paging.ts'
import type { Fault, FaultRule, FaultSet } from './responses.ts'
import { selection } from './selection.ts'
import { showTally } from './tabs.ts'

const list = findById('faults', HTMLElement)
const ready = findById('fault-sets', HTMLElement)
const clear = findById('faults-clear', HTMLButtonElement)

/** What the lists show, as JSON. */
let shown: string | undefined

export function startFaults(): void {
  addPart({ tab: 'faults', load: loadFaults })
  onClick(clear, async () => {
    await call('clearFaults')
    await refreshTab()
  })
}

async function loadFaults(): Promise<void> {
  const { account } = selection
  const loading = readAll(
    (query) => call('listFaults', { parameters: { account }, query }),
    (page) => page.faults,
  )
  const [faults, { sets }] = await Promise.all([loading, call('listFaultSets')])
  if (account !== selection.account) return
  showTally('faults', faults.length)
  // The rules are loaded every few seconds; a list that did not change must not be drawn again under the pointer.
  const loaded = JSON.stringify({ faults, sets })
  if (loaded === shown) return
  shown = loaded
  clear.disabled = faults.length === 0
  fillList(list, faults.map(faultItem), 'No rules: every response is genuine.')
  fillList(ready, sets.map(setItem), 'There are no ready-made sets.')
}

function setItem({ name, description, rules }: FaultSet): HTMLLIElement {
  const words = element('div', { class: 'soft' }, description)
  const add = button('Add', async () => {
    await call('addFaultSet', { parameters: { set: name } })
    showNote(`The set ${name} was added.`)
    await refreshTab()
  })
  return listItem([element('strong', {}, name), ` · ${formatCount(rules.length, 'rule')}`, words], add)
}

function faultItem(fault: Fault): HTMLLIElement {
  const { id, hits, state, rule } = fault
  const remove = button(
    'Remove',
    async () => {
      await call('deleteFault', { parameters: { fault: id } })
      await refreshTab()
    },
    'danger',
  )
  const content = [
    element('strong', {}, effectOf(rule)),
    ' ',
    badge(state, state === 'active' ? 'good' : ''),
    ' ',
    badge(hits === 1 ? 'applied once' : `applied ${hits} times`, hits > 0 ? 'odd' : ''),
    element('div', { class: 'soft' }, describeFault(fault)),
    rule.description && element('div', { class: 'soft' }, rule.description),
    element(
      'details',
      { 'data-name': id },
      element('summary', { class: 'soft' }, id),
      element('pre', {}, formatJson(rule)),
    ),
  ]
  return cardItem(content, remove)
}

/** Which requests a rule matches, when it applies to them, and which set it came with. */
function describeFault({ set, phase, matched, rule }: Fault): string {
  const words = [
    matchOf(rule),
    `phase ${phase}`,
    rule.skip && `after ${formatCount(rule.skip, 'request')}`,
    rule.times && `at most ${rule.times === 1 ? 'once' : `${rule.times} times`}`,
    rule.probability !== undefined && `with probability ${rule.probability}`,
    rule.expires_after && `for ${rule.expires_after}`,
    `${formatCount(matched, 'request')} matched so far`,
    set && `set ${set}`,
  ]
  return words.filter(Boolean).join(' · ')
}

function matchOf({ match = {} }: FaultRule): string {
  const conditions = Object.entries(match).map(([name, value]) => `${name} ${value}`)
  return conditions.join(', ') || 'every request'
}

function effectOf({ respond, connection, corrupt, event, delay_ms = 0, jitter_ms = 0 }: FaultRule): string {
  const effects = [
    respond && ('error' in respond ? respond.error : `status ${respond.status}`),
    connection && `connection: ${connection}`,
    corrupt && `corruption: ${corrupt}`,
    event && `event: ${event}`,
    delay_ms + jitter_ms > 0 && `delay ${delay_ms}${jitter_ms > 0 ? `–${delay_ms + jitter_ms}` : ''} ms`,
  ]
  return effects.filter(Boolean).join(', ')
}
