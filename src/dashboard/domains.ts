import { button } from './actions.ts'
import { addPart } from './chosen-account.ts'
import { call } from './client.ts'
import { changeDomain } from './domain-dialog.ts'
import { badge, element, findById, withSpaces } from './elements.ts'
import { formatCount } from './formatting.ts'
import { fillList, listItem } from './lists.ts'
import { setContent } from './notices.ts'
import type { DmarcRecord, Fixture, FixtureDomain, FixtureGroup } from './responses.ts'
import { selection } from './selection.ts'
import { showTally } from './tabs.ts'

/** How many domains or groups are shown at most. */
const MOST_LINES = 300

const rows = findById('domain-rows', HTMLTableSectionElement)
const filter = findById('domain-filter', HTMLInputElement)
const note = findById('domains-note', HTMLElement)
const groupList = findById('groups', HTMLElement)
const groupTally = findById('group-tally', HTMLElement)

/** The state that was loaded last. */
let fixture: Fixture | undefined
/** Domain → its record; known only after a change of the domain on this page. */
const records = new Map<string, DmarcRecord | null>()

export function startDomains(): void {
  addPart({
    tab: 'domains',
    load: loadDomains,
    forget() {
      fixture = undefined
      forgetRecords()
    },
  })
  filter.addEventListener('input', showDomains)
}

/** Drops the records that are known, because the state of the account was replaced. */
export function forgetRecords(): void {
  records.clear()
}

async function loadDomains(): Promise<void> {
  const { account } = selection
  const loaded = await call('exportState')
  if (account !== selection.account) return
  fixture = loaded
  showDomains()
}

function showDomains(): void {
  if (fixture === undefined) return
  const { domains = [], groups = [] } = fixture
  const wanted = filter.value.trim().toLowerCase()
  const matching = domains.filter(({ name }) => name.includes(wanted))
  const shown = matching.slice(0, MOST_LINES)
  const groupsOf = groupsByDomain(groups)
  showTally('domains', domains.length)
  rows.replaceChildren(...shown.map((domain) => domainRow(domain, groupsOf.get(domain.name) ?? [])))
  setContent(note, noteOn(domains.length, matching.length, shown.length))
  groupTally.textContent = groups.length.toLocaleString('en')
  fillList(groupList, groups.slice(0, MOST_LINES).map(groupItem), 'There are no groups.')
}

function noteOn(all: number, matching: number, shown: number): string | undefined {
  if (all === 0) return 'This account monitors no domain.'
  if (matching === 0) return 'No domain matches the filter.'
  if (matching === shown) return undefined
  return `Only the first ${shown} of ${formatCount(matching, 'domain')} are shown. Use the filter to find the others.`
}

/** Domain → the names of the groups that it is in. */
function groupsByDomain(groups: readonly FixtureGroup[]): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const { name, domains } of groups) {
    for (const domain of domains) {
      const known = names.get(domain)
      if (known === undefined) names.set(domain, [name])
      else known.push(name)
    }
  }
  return names
}

function groupItem({ id, name, domains }: FixtureGroup): HTMLLIElement {
  return listItem([
    element('strong', {}, name),
    ' ',
    element('code', { class: 'soft' }, id),
    element('div', { class: 'soft' }, formatCount(domains.length, 'domain')),
  ])
}

function domainRow(domain: FixtureDomain, groups: readonly string[]): HTMLTableRowElement {
  const { name, features = [], profile, record: pin = {} } = domain
  const record = records.get(name)
  const pins = Object.entries(pin).map(([field, value]) => badge(`${field} ${value}`, 'odd'))
  const recordLine = record !== undefined && element('div', { class: 'soft' }, recordText(record))
  return element(
    'tr',
    {},
    element('td', { class: 'wide' }, element('span', { class: 'mono' }, name), recordLine),
    element('td', {}, withSpaces(features.map((feature) => badge(feature, 'warn')))),
    element('td', { class: 'soft' }, groups.length > 0 && groups.join(', ')),
    element('td', {}, withSpaces([profile && badge(profile), ...pins])),
    element('td', { class: 'fit' }, changeButton(domain)),
  )
}

function changeButton(domain: FixtureDomain): HTMLButtonElement {
  async function change(): Promise<void> {
    await changeDomain(domain, (record) => records.set(domain.name, record))
    await loadDomains()
  }
  const node = button('Change…', change, 'small')
  node.ariaLabel = `Change ${domain.name}`
  return node
}

function recordText(record: DmarcRecord | null): string {
  if (record === null) return 'No record at present.'
  const fields = Object.entries(record).filter(([name]) => name !== 'domain')
  return fields.map(([name, value]) => `${name} ${value}`).join(' · ')
}
