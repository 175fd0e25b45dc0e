import type { ComponentChildren } from 'preact'
import { change } from './data.ts'
import { FACTS } from './facts.ts'
import { formatCount } from './formatting.ts'
import { chosenAccount } from './place.tsx'
import type { BodyOf, Schemas } from './responses.ts'
import { showNote } from './ui/elements.tsx'
import { ask, type Field } from './ui/forms.tsx'

/** The most names in one request if the service has no limit. */
const MOST_NAMES = 1_000

interface NamesChange {
  title: string
  submit: 'Add' | 'Remove'
  word: 'domain' | 'member'
  field: string
  names?: readonly string[]
  about?: ComponentChildren
  /** How many names a request may contain; by default as many as fit. */
  limit?: number | null | undefined
  send(names: string[]): Promise<unknown>
}

/**
 * Asks for names, one in each line, and sends them in as few requests as the service permits. Resolves to false if the
 * user closes the form.
 */
export async function askForNames(change: NamesChange): Promise<boolean> {
  const { title, submit, word, field, names = [], about, limit, send } = change
  const size = Math.min(limit ?? MOST_NAMES, MOST_NAMES)
  const done = await ask(title, {
    fields: [
      {
        name: field,
        label: `${word === 'domain' ? 'Domains' : 'Members'}, one in each line`,
        as: 'names',
        value: names.join('\n'),
      },
    ],
    ...{ about, submit, danger: submit === 'Remove' },
    async work(body: Readonly<Record<string, string[]>>, form) {
      const all = body[field] ?? []
      if (all.length === 0) throw new Error(`Write at least one ${word}.`)
      const area = form.querySelector('textarea')
      for (let start = 0; start < all.length; start += size) {
        await send(all.slice(start, start + size))
        // What is done must not be sent again, because the service would refuse it.
        if (area !== null) area.value = all.slice(start + size).join('\n')
      }
      showNote(
        `${formatCount(all.length, word)} ${all.length === 1 ? 'was' : 'were'} ${submit === 'Add' ? 'added' : 'removed'}.`,
      )
      return true
    },
  })
  return done ?? false
}

/** How many domains a request of an operation of the service may contain; null without a limit. */
function limitOf(operation: string): number | null | undefined {
  return FACTS.operations.find(({ id }) => id === operation)?.most_domains
}

export function addDomains(): Promise<boolean> {
  const account = chosenAccount.peek()
  return askForNames({
    ...{ title: 'Add domains', submit: 'Add', word: 'domain', field: 'domains', limit: limitOf('addDomains') },
    send: (domains) => change('addMonitoredDomains', { account }, { domains }),
  })
}

/** Asks for confirmation, and removes the domains by the rules of the service. Resolves to false if it did not. */
export function removeDomains(domains: readonly Schemas['MonitoredDomain'][]): Promise<boolean> {
  const account = chosenAccount.peek()
  const isUsed = domains.some(({ features }) => features.length > 0)
  return askForNames({
    title: `Remove ${formatCount(domains.length, 'domain')}?`,
    ...{ submit: 'Remove', word: 'domain', field: 'domains', limit: limitOf('deleteDomains') },
    names: domains.map(({ domain }) => domain),
    about: (
      <p>
        They are removed from their groups, too. A domain that is added again begins to count its messages from zero.
        {isUsed && ' A monitoring feature uses some of them, so the service is going to refuse a request with these.'}
      </p>
    ),
    send: (names) => change('removeMonitoredDomains', { account }, { domains: names }),
  })
}

type Pin = keyof Schemas['PinnedFields']

const PINS: readonly [Pin, label: string, values?: readonly string[]][] = [
  ['p', 'Policy (p)', FACTS.policies],
  ['sp', 'Subdomains (sp)', FACTS.policies],
  ['np', 'Non-existent (np)', FACTS.policies],
  ['testing', 'Test mode (testing)', ['n', 'y']],
  ['pct', 'Percentage (pct)'],
  ['dmarc', 'DMARC, %'],
  ['dkim', 'DKIM, %'],
  ['spf', 'SPF, %'],
  ['count', 'Messages in 30 days'],
]

export async function changeDomain({ domain, ...now }: Schemas['MonitoredDomain']): Promise<void> {
  const parameters = { account: chosenAccount.peek(), domain }
  const pins = PINS.map(([name, label, values]): Field => {
    const today = String(now.record?.[name] ?? '')
    const field = { name, label, value: now.pinned[name] }
    return values === undefined
      ? { ...field, as: 'number', placeholder: today }
      : { ...field, values, none: `not fixed${today && ` (${today})`}` }
  })
  const features = { name: 'features', label: 'In use by (mta-sts, tls-rpt, bimi)' }
  await ask(`Change ${domain}`, {
    about:
      'A value that you write is fixed from now on. An empty field follows the generated figures, which are of the kind that the profile names. A domain that a feature uses cannot be removed.',
    fields: [
      { name: 'profile', label: 'Profile', values: FACTS.profiles, value: now.profile },
      ...pins,
      { ...features, value: now.features.join(', ') },
    ],
    submit: 'Save',
    async work({ features, ...pin }: BodyOf<'pinDmarc'> & { features?: string }) {
      // To fix the same values again would mean that they are fixed from now on.
      const before = new Map(Object.entries({ profile: now.profile, ...now.pinned }))
      const after = Object.entries(pin)
      if (after.length !== before.size || after.some(([name, value]) => value !== before.get(name)))
        await change('pinDmarc', parameters, pin)
      await change('setFeatures', parameters, { features: features?.split(/[\s,]+/) ?? [] })
      showNote(`${domain} was changed.`)
    },
  })
}
