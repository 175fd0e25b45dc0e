import { button, createListener } from './actions.ts'
import { addPart, refreshAll, refreshTab } from './chosen-account.ts'
import { call } from './client.ts'
import { confirmed, textOf } from './dialogs.ts'
import { forgetRecords } from './domains.ts'
import { element, findById } from './elements.ts'
import { formatCount, formatInstant } from './formatting.ts'
import { cardItem, fillList } from './lists.ts'
import { showNote } from './notices.ts'
import { readAll } from './paging.ts'
import type { Snapshot } from './responses.ts'
import { selection } from './selection.ts'
import { showTally } from './tabs.ts'

const list = findById('snapshots', HTMLElement)
const form = findById('snapshot-form', HTMLFormElement)

export function startSnapshots(): void {
  addPart({ tab: 'snapshots', load: loadSnapshots })
  form.addEventListener('submit', createListener(takeSnapshot))
}

async function loadSnapshots(): Promise<void> {
  const { account } = selection
  const snapshots = await readAll(
    (query) => call('listSnapshots', { parameters: { account }, query }),
    (page) => page.snapshots,
  )
  if (account !== selection.account) return
  showTally('snapshots', snapshots.length)
  fillList(list, snapshots.map(snapshotItem), 'No snapshots. Take one before a change that you may want to undo.')
}

function snapshotItem({ name, taken_at, domains, groups }: Snapshot): HTMLLIElement {
  const words = `${formatInstant(taken_at)} · ${formatCount(domains, 'domain')} · ${formatCount(groups, 'group')}`
  return cardItem(
    [element('strong', {}, name), element('div', { class: 'soft' }, words)],
    button('Restore', () => restoreSnapshot(name)),
    button('Delete', () => deleteSnapshot(name), 'danger'),
  )
}

async function takeSnapshot(): Promise<void> {
  const fields = new FormData(form)
  const body = { name: textOf(fields, 'name'), ...(fields.has('replace') && { replace: true as const }) }
  await call('takeSnapshot', { body })
  form.reset()
  await refreshTab()
}

async function restoreSnapshot(name: string): Promise<void> {
  const text = 'State, keys, clock, quotas and faults go back to those of the snapshot.'
  if (!(await confirmed(`Restore the snapshot ${name}?`, text, 'Restore'))) return
  await call('restoreSnapshot', { parameters: { snapshot: name } })
  showNote(`The snapshot ${name} was restored.`)
  forgetRecords()
  await refreshAll()
}

async function deleteSnapshot(name: string): Promise<void> {
  if (!(await confirmed(`Delete the snapshot ${name}?`, 'The account does not change.', 'Delete'))) return
  await call('deleteSnapshot', { parameters: { snapshot: name } })
  await refreshTab()
}
