import { addPart } from './chosen-account.ts'
import { call } from './client.ts'
import { copyable } from './clipboard.ts'
import { badge, element, findById, meter } from './elements.ts'
import { fillList } from './lists.ts'
import type { Coverage, Gap } from './responses.ts'
import { selection } from './selection.ts'
import { showTally } from './tabs.ts'

/** A part of the contract that no request of the account has covered. */
interface NamedGap {
  kind: 'response' | 'rule' | 'edge'
  name: string
  says?: string
  gap: Gap
}

const bars = findById('coverage-bars', HTMLElement)
const list = findById('gaps', HTMLElement)
const filter = findById('gap-filter', HTMLInputElement)

/** The coverage that was loaded last. */
let coverage: Coverage | undefined

export function startCoverage(): void {
  addPart({
    tab: 'coverage',
    load: loadCoverage,
    forget() {
      coverage = undefined
    },
  })
  filter.addEventListener('input', showGaps)
}

async function loadCoverage(): Promise<void> {
  const { account } = selection
  const loaded = await call('getCoverage')
  if (account !== selection.account) return
  coverage = loaded
  bars.replaceChildren(
    ...Object.entries(loaded.summary).map(([name, { seen, total, percent }]) =>
      element(
        'div',
        { class: 'quota coverage' },
        element('span', {}, name),
        meter(percent / 100, `Coverage of ${name}`, `${seen} of ${total}`),
        element('span', { class: 'count' }, `${seen} / ${total}`),
        element('span', { class: 'soft' }, `${percent} %`),
      ),
    ),
  )
  showGaps()
}

function showGaps(): void {
  if (coverage === undefined) return
  showTally('coverage', `${coverage.summary.responses.percent} %`)
  const wanted = filter.value.trim().toLowerCase()
  const gaps = gapsOf(coverage)
  const shown = gaps.filter(({ kind, name, says = '' }) => `${kind} ${name} ${says}`.toLowerCase().includes(wanted))
  fillList(list, shown.map(gapItem), gaps.length === 0 ? 'Everything is covered.' : 'No gap matches the filter.')
}

function gapsOf({ operations, rules, edges }: Coverage): NamedGap[] {
  const responses = operations.flatMap(({ operation, responses }) =>
    responses
      .filter(({ genuine }) => genuine === 0)
      .map((gap): NamedGap => {
        const code = gap.code === undefined ? '' : ` ${gap.code}`
        return { kind: 'response', name: `${operation} → ${gap.status}${code}`, gap }
      }),
  )
  return [
    ...responses,
    ...rules.filter(({ seen }) => !seen).map((gap): NamedGap => ({ kind: 'rule', name: gap.id, says: gap.says, gap })),
    ...edges.filter(({ seen }) => !seen).map((gap): NamedGap => ({ kind: 'edge', name: gap.id, gap })),
  ]
}

function gapItem({ kind, name, says, gap: { curl, hint } }: NamedGap): HTMLLIElement {
  const title = [badge(kind), ' ', element('span', { class: 'mono' }, name)]
  const words = says !== undefined && element('span', { class: 'soft' }, ` ${says}`)
  const commands = curl?.map(copyable) ?? element('p', { class: 'soft' }, hint ?? 'No command that covers it is known.')
  return element(
    'li',
    {},
    element(
      'details',
      { 'data-name': `${kind} ${name}` },
      element('summary', {}, title, words),
      element('div', { class: 'stack' }, commands),
    ),
  )
}
