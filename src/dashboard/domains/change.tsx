import { call } from '../client.ts'
import { refreshShown } from '../data.ts'
import { FACTS } from '../facts.ts'
import { formatCount } from '../formatting.ts'
import { chosenAccount } from '../place.tsx'
import type { MonitoredDomain } from '../responses.ts'
import { changeAsService } from '../service-change.ts'
import { openDialog } from '../ui/dialog.tsx'
import { LabelledSelect, Options, TextField, textOf } from '../ui/form.tsx'
import { askForNames } from '../ui/names.tsx'
import { showNote } from '../ui/notices.tsx'
import { PIN_FIELDS, readChange, valueToday } from './pin.ts'

/** Asks for names, and adds the domains by the rules of the service. */
export function addDomains(): Promise<boolean> {
  const account = chosenAccount.peek()
  return askForNames({
    ...{ title: 'Add domains', submit: 'Add', word: 'domain', limit: limitOf('addDomains') },
    send: (domains) => changeAsService('addMonitoredDomains', { account, body: { domains } }),
  })
}

/** Asks for confirmation, and removes the domains by the rules of the service. Resolves to false if it did not. */
export function removeDomains(domains: readonly MonitoredDomain[]): Promise<boolean> {
  const account = chosenAccount.peek()
  const used = domains.filter(({ features }) => features.length > 0).length
  const [only] = domains
  return askForNames({
    title: domains.length === 1 && only ? `Remove ${only.domain}?` : `Remove ${formatCount(domains.length, 'domain')}?`,
    ...{ submit: 'Remove', word: 'domain', limit: limitOf('deleteDomains') },
    names: domains.map(({ domain }) => domain),
    about: (
      <>
        <p>
          {domains.length === 1 ? 'It is removed from its groups' : 'They are removed from their groups'}, too. A domain
          that is added again begins to count its messages from zero.
        </p>
        {used > 0 && (
          <p>
            {describeUse(domains.length, used)}, so the service is going to refuse a request that names{' '}
            {used === 1 ? 'it' : 'them'}.
          </p>
        )}
      </>
    ),
    send: (names) => changeAsService('removeMonitoredDomains', { account, body: { domains: names } }),
  })
}

/** How many domains a request of an operation may contain; null without a limit. */
function limitOf(operation: string): number | null {
  return FACTS.operations.find(({ id }) => id === operation)?.mostDomains ?? null
}

function describeUse(count: number, used: number): string {
  if (count === 1) return 'A monitoring feature uses it'
  return used === 1 ? 'A monitoring feature uses one of them' : `Monitoring features use ${used} of them`
}

const USUAL_FEATURES = ['mta-sts', 'tls-rpt', 'bimi']

export async function changeDomain(domain: MonitoredDomain): Promise<void> {
  const parameters = { account: chosenAccount.peek(), domain: domain.domain }
  const saved = await openDialog(`Change ${domain.domain}`, <PinFields domain={domain} />, {
    submit: 'Save',
    async work(fields) {
      const { pin, features } = readChange(domain, (field) => textOf(fields, field))
      if (pin === undefined && features === undefined) return false
      try {
        if (pin !== undefined) await call('pinDmarc', { parameters, body: pin })
        if (features !== undefined) await call('setFeatures', { parameters, body: { features } })
      } finally {
        await refreshShown()
      }
      return true
    },
  })
  if (saved === false) showNote('Nothing was changed.')
}

/** Removes the fixed values of a domain, so that its record follows the generated figures again. */
export async function removePins({ domain }: MonitoredDomain): Promise<void> {
  await call('unpinDmarc', { parameters: { domain } })
  await refreshShown()
  showNote(`The record of ${domain} follows the generated figures again.`)
}

const LABELS: Readonly<Record<(typeof PIN_FIELDS)[number], string>> = {
  p: 'Policy (p)',
  sp: 'Subdomains (sp)',
  np: 'Non-existent (np)',
  testing: 'Test mode (testing)',
  pct: 'Percentage (pct)',
  dmarc: 'DMARC, %',
  dkim: 'DKIM, %',
  spf: 'SPF, %',
  count: 'Messages in 30 days',
}

function PinFields({ domain }: { domain: MonitoredDomain }) {
  return (
    <>
      <p class="soft">
        The fields have today's values. A field that you change has this fixed value from now on; the days before have
        the generated figures. A field that you empty follows the generated figures again. All other fields stay as they
        are. The profile is the kind of domain for which the figures are generated.
      </p>
      <div class="fields">
        <LabelledSelect label="Profile" name="profile" values={FACTS.profiles} value={domain.profile} />
        {PIN_FIELDS.map((field) => (
          <Field key={field} domain={domain} field={field} />
        ))}
      </div>
      <label>
        In use by these features, separated by commas
        <input name="features" defaultValue={domain.features.join(', ')} placeholder="mta-sts" list="feature-names" />
      </label>
      <datalist id="feature-names">
        <Options values={USUAL_FEATURES} />
      </datalist>
      <p class="soft">
        A domain that a feature uses cannot be removed. Features are services such as mta-sts (encrypted delivery),
        tls-rpt (reports about it) and bimi (logos).
      </p>
    </>
  )
}

function Field({ domain, field }: { domain: MonitoredDomain; field: (typeof PIN_FIELDS)[number] }) {
  const value = valueToday(domain, field)
  const values = choicesOf(field)
  const title = LABELS[field] + (domain.pinned[field] === undefined ? '' : ' · fixed value')
  return values === undefined ? (
    <TextField label={title} name={field} inputMode="decimal" defaultValue={value} />
  ) : (
    <LabelledSelect label={title} name={field} none="no fixed value" values={values} value={value} />
  )
}

function choicesOf(field: string): readonly string[] | undefined {
  if (field === 'testing') return ['n', 'y']
  return ['p', 'sp', 'np'].includes(field) ? FACTS.policies : undefined
}
