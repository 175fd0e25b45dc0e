import { onClick } from './actions.ts'
import { chooseAccount, loadAccounts, refreshAll } from './chosen-account.ts'
import { call } from './client.ts'
import { confirmed, openDialog, showSecret, textOf } from './dialogs.ts'
import { forgetRecords } from './domains.ts'
import { element, findById, options } from './elements.ts'
import { FACTS } from './facts.ts'
import { restartStream } from './request-stream.ts'
import { DEFAULT_ACCOUNT, selection } from './selection.ts'

const picker = findById('account', HTMLSelectElement)
const creation = findById('account-new', HTMLButtonElement)
const reset = findById('account-reset', HTMLButtonElement)
const deletion = findById('account-delete', HTMLButtonElement)

export function startAccountDialogs(): void {
  picker.addEventListener('change', () => chooseAccount(picker.value))
  onClick(creation, createAccount)
  onClick(reset, resetAccount)
  onClick(deletion, deleteAccount)
}

async function createAccount(): Promise<void> {
  function work(fields: FormData) {
    const [id, fixture, seed] = ['id', 'fixture', 'seed'].map((name) => textOf(fields, name))
    const body = { ...(id && { id }), ...(fixture && { fixture }), ...(seed && { seed: Number(seed) }) }
    return call('createAccount', { body })
  }
  const usual = 'default of the server'
  const note = 'The account has its own state, key, clock, quotas and faults. It shares them with no other account.'
  const content = [
    element(
      'div',
      { class: 'fields' },
      element('label', {}, 'Name', element('input', { name: 'id', placeholder: 'generated' })),
      element('label', {}, 'Fixture', fixtureChoice(usual)),
      element('label', {}, 'Seed', element('input', { name: 'seed', type: 'number', placeholder: usual })),
    ),
    element('p', { class: 'soft' }, note),
  ]
  const created = await openDialog('A new account', content, { submit: 'Create', work })
  if (created === undefined) return
  await loadAccounts()
  chooseAccount(created.account.id)
  await showSecret(`The account ${created.account.id}`, created.api_key)
}

async function resetAccount(): Promise<void> {
  const { account } = selection
  async function work(fields: FormData): Promise<true> {
    const fixture = textOf(fields, 'fixture')
    await call('resetAccount', { parameters: { account }, body: fixture === '' ? {} : { fixture } })
    return true
  }
  const content = [
    element(
      'p',
      {},
      'The account goes back to the moment of its creation. ',
      'Later keys, faults, pins, requests and coverage are removed. Snapshots stay.',
    ),
    element('label', {}, 'Fixture', fixtureChoice('the one of its creation')),
  ]
  const done = await openDialog(`Reset ${account}?`, content, { submit: 'Reset', danger: true, work })
  if (done === undefined) return
  forgetRecords()
  restartStream()
  await refreshAll()
}

async function deleteAccount(): Promise<void> {
  const { account } = selection
  const text = 'Its state, keys, requests and snapshots are deleted. This cannot be undone.'
  if (await confirmed(`Delete ${account}?`, text, 'Delete')) {
    await call('deleteAccount', { parameters: { account } })
    chooseAccount(DEFAULT_ACCOUNT)
    await loadAccounts()
  }
  deletion.blur()
}

function fixtureChoice(usual: string): HTMLSelectElement {
  return element('select', { name: 'fixture' }, new Option(usual, ''), options(FACTS.fixtures))
}
