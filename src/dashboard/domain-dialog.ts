import { call } from './client.ts'
import { openDialog, textOf } from './dialogs.ts'
import { type Child, element, options } from './elements.ts'
import { FACTS } from './facts.ts'
import type { DmarcRecord, FixtureDomain, Pin } from './responses.ts'

const USUAL_FEATURES = ['mta-sts', 'tls-rpt', 'bimi']
/** The fields of a record that the form contains; other pinned fields stay as they are. */
const FORM_FIELDS = ['p', 'count', 'dmarc']

/** Shows a form that changes a domain. `keep` receives the record of the domain after each change. */
export async function changeDomain(domain: FixtureDomain, keep: (record: DmarcRecord | null) => void): Promise<void> {
  const { name, features = [], profile, record = {} } = domain
  const used = features.join(', ')
  async function change(fields: FormData): Promise<void> {
    const before = JSON.stringify({ ...record, ...(profile !== undefined && { profile }) })
    const pin = readPin(fields, record)
    if (Object.keys(pin).length > 0 && JSON.stringify(pin) !== before) {
      keep((await call('pinDmarc', { parameters: { domain: name }, body: pin })).record)
    } else if (Object.keys(pin).length === 0 && before !== '{}') {
      keep((await call('unpinDmarc', { parameters: { domain: name } })).record)
    }
    const given = textOf(fields, 'features').split(',')
    const using = [...new Set(given.map((feature) => feature.trim()).filter(Boolean))]
    if (using.join(', ') !== used) {
      keep((await call('setFeatures', { parameters: { domain: name }, body: { features: using } })).record)
    }
  }
  await openDialog(name, formFor(profile, record, used), { submit: 'Save', work: change })
}

function readPin(fields: FormData, record: Pin): Pin {
  const kept = Object.entries(record).filter(([field]) => !FORM_FIELDS.includes(field) || textOf(fields, field) !== '')
  const pin: Record<string, string | number> = Object.fromEntries(kept)
  for (const field of FORM_FIELDS) {
    const text = textOf(fields, field)
    if (text !== '') pin[field] = field === 'p' ? text : Number(text)
  }
  if (textOf(fields, 'profile') !== '') pin['profile'] = textOf(fields, 'profile')
  return pin
}

function formFor(profile: string | undefined, record: Pin, used: string): Child {
  const number = (name: string, step?: string) =>
    element('input', { name, type: 'number', step, placeholder: 'not pinned', value: record[name] })
  const features = { name: 'features', value: used, placeholder: 'mta-sts', list: 'feature-names' }
  return [
    element(
      'div',
      { class: 'fields' },
      element('label', {}, 'Profile', choice('profile', FACTS.profiles, profile)),
      element('label', {}, 'Policy p', choice('p', FACTS.policies, record['p'])),
      element('label', {}, 'Messages a month', number('count')),
      element('label', {}, 'DMARC pass %', number('dmarc', 'any')),
    ),
    element('label', {}, 'In use by these features, separated by commas', element('input', features)),
    element('datalist', { id: 'feature-names' }, options(USUAL_FEATURES)),
    element(
      'p',
      { class: 'soft' },
      'The profile decides how the figures develop. A pinned field keeps its value. ',
      'A domain that a feature uses cannot be deleted.',
    ),
  ]
}

function choice(name: string, values: readonly string[], value: string | number | undefined): HTMLSelectElement {
  const node = element('select', { name }, new Option('not pinned', ''), options(values))
  node.value = String(value ?? '')
  return node
}
