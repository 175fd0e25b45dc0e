import { call } from '../client.ts'
import { openDialog } from '../controls/dialog.tsx'
import { LabelledSelect, Options, TextField, textOf } from '../controls/form.tsx'
import { showNote } from '../controls/notices.tsx'
import { FACTS } from '../facts.ts'
import type { MonitoredDomain } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { monitored, reloadDomain } from './monitored.ts'
import { type DomainChange, PIN_FIELDS, readChange, valueToday } from './pin.ts'

const USUAL_FEATURES = ['mta-sts', 'tls-rpt', 'bimi']

/** Shows a form with the current values of a domain, and saves the changes of the user. */
export async function changeDomain(domain: MonitoredDomain): Promise<void> {
  const account = chosenAccount.peek()
  const saved = await openDialog(`Change ${domain.domain}`, <Fields domain={domain} />, {
    submit: 'Save',
    async work(fields) {
      const change = readChange(domain, (field) => textOf(fields, field))
      if (change.pin === undefined && change.features === undefined) return false
      try {
        await applyChange(domain, change, account)
      } finally {
        await reloadDomain(domain.domain)
      }
      return true
    },
  })
  if (saved === false) showNote('Nothing was changed.')
}

async function applyChange({ domain, profile }: MonitoredDomain, change: DomainChange, account: string): Promise<void> {
  const parameters = { account, domain }
  const { pin, features } = change
  if (pin === 'none') {
    await call('unpinDmarc', { parameters })
    await reloadDomain(domain)
    // Removing the pins also resets the chosen profile. The user did not ask for that, so it is set again.
    const now = monitored.data.peek()?.find((each) => each.domain === domain)
    if (now !== undefined && now.profile !== profile) await call('pinDmarc', { parameters, body: { profile } })
  } else if (pin !== undefined) {
    await call('pinDmarc', { parameters, body: pin })
  }
  if (features !== undefined) await call('setFeatures', { parameters, body: { features } })
}

/** Removes the pins of a domain, so that its record follows the generated figures again. */
export async function removePins({ domain }: MonitoredDomain): Promise<void> {
  await call('unpinDmarc', { parameters: { domain } })
  await reloadDomain(domain)
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

function Fields({ domain }: { domain: MonitoredDomain }) {
  return (
    <>
      <p class="soft">
        The fields have today's values. A field that you change keeps its new value from now on. A field that you empty
        follows the generated figures again. All other fields stay pinned or generated, as they were.
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
      <p class="soft">A domain that a feature uses cannot be removed.</p>
    </>
  )
}

function Field({ domain, field }: { domain: MonitoredDomain; field: (typeof PIN_FIELDS)[number] }) {
  const value = valueToday(domain, field)
  const values = choicesOf(field)
  const title = LABELS[field] + (domain.pinned[field] === undefined ? '' : ' · pinned')
  return values === undefined ? (
    <TextField label={title} name={field} inputMode="decimal" defaultValue={value} />
  ) : (
    <LabelledSelect label={title} name={field} none="not pinned" values={values} value={value} />
  )
}

function choicesOf(field: string): readonly string[] | undefined {
  if (field === 'testing') return ['n', 'y']
  return ['p', 'sp', 'np'].includes(field) ? FACTS.policies : undefined
}
