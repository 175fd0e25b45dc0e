import { button, createListener } from './actions.ts'
import { addPart, refreshTab } from './chosen-account.ts'
import { call } from './client.ts'
import { confirmed, showSecret, textOf } from './dialogs.ts'
import { badge, element, findById } from './elements.ts'
import { formatInstant } from './formatting.ts'
import { cardItem, fillList } from './lists.ts'
import { readAll } from './paging.ts'
import type { Key } from './responses.ts'
import { selection } from './selection.ts'
import { showTally } from './tabs.ts'

const list = findById('keys', HTMLElement)
const form = findById('key-form', HTMLFormElement)

export function startKeys(): void {
  addPart({ tab: 'keys', load: loadKeys })
  form.addEventListener('submit', createListener(createKey))
}

async function loadKeys(): Promise<void> {
  const { account } = selection
  const keys = await readAll(
    (query) => call('listKeys', { parameters: { account }, query }),
    (page) => page.keys,
  )
  if (account !== selection.account) return
  showTally('keys', keys.length)
  fillList(list, keys.map(keyItem), 'No keys: nobody can use this account.')
}

function keyItem({ id, label, created_at, disabled, in_grace }: Key): HTMLLIElement {
  const content = [
    element('strong', { class: 'mono' }, id),
    ' ',
    disabled ? badge('disabled', 'bad') : badge('enabled', 'good'),
    ' ',
    in_grace && badge('in grace period', 'warn'),
    element('div', { class: 'soft' }, [label, `created ${formatInstant(created_at)}`].filter(Boolean).join(' · ')),
  ]
  async function toggle(): Promise<void> {
    await call('updateKey', { parameters: { key: id }, body: { disabled: !disabled } })
    await refreshTab()
  }
  return cardItem(
    content,
    button(disabled ? 'Enable' : 'Disable', toggle),
    button('Delete', () => deleteKey(id), 'danger'),
  )
}

async function createKey(): Promise<void> {
  const label = textOf(new FormData(form), 'label')
  const { key, api_key } = await call('createKey', { body: label === '' ? {} : { label } })
  form.reset()
  await refreshTab()
  await showSecret(`The key ${key.id}`, api_key)
}

async function deleteKey(id: string): Promise<void> {
  const text = 'The service refuses all requests with this key from now on. This cannot be undone.'
  if (!(await confirmed(`Delete the key ${id}?`, text, 'Delete'))) return
  await call('deleteKey', { parameters: { key: id } })
  await refreshTab()
}
