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
  const usual = "the server's own"
  const note = 'A world of its own, with a key, a clock, quotas and faults that no other account shares.'
  const content = [
    element(
      'div',
      { class: 'fields' },
      element('label', {}, 'Name', element('input', { name: 'id', placeholder: 'chosen for you' })),
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
  const text = 'Back to the moment of its creation: later keys, faults, pins, requests and coverage go; snapshots stay.'
  const content = [
    element('p', {}, text),
    element('label', {}, 'With the fixture', fixtureChoice('that it was made of')),
  ]
  const done = await openDialog(`Begin ${account} anew?`, content, { submit: 'Reset', danger: true, work })
  if (done === undefined) return
  forgetRecords()
  restartStream()
  await refreshAll()
}

async function deleteAccount(): Promise<void> {
  const { account } = selection
  const text = 'All of it, for good: state, keys, requests and snapshots.'
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
