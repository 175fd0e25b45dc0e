import { type Signal, signal } from '@preact/signals'
import { chosenAccount } from '../address.ts'
import { call } from '../client.ts'
import { openDialog } from '../controls/dialog.tsx'
import { Checkbox, LabelledSelect, Options, TextField, textOf } from '../controls/form.tsx'
import { FirstNames } from '../controls/marks.tsx'
import { showNote } from '../controls/notices.tsx'
import { FACTS } from '../facts.ts'
import { formatCount, formatDeed } from '../formatting.ts'
import { addWords, Refused } from '../refusals.ts'
import type { MonitoredDomain } from '../responses.ts'
import { changeAsService } from '../service-change.ts'
import { monitored, refreshAfterChange, reloadDomain } from './monitored.ts'
import { divideNames, placeIn, readNames, type TypedName } from './name-list.ts'
import { type DomainChange, PIN_FIELDS, readChange, valueToday } from './pin.ts'

/** Asks for names, and adds the domains by the rules of the service. */
export async function addDomains(): Promise<void> {
  const account = chosenAccount.peek()
  const text = signal('')
  const limit = limitOf('addDomains')
  await openDialog('Add domains', <Fields text={text} limit={limit} />, {
    submit: 'Add',
    async work() {
      const names = readNames(text.peek())
      if (names.length === 0) throw new Error('Write at least one domain.')
      const parts = divideNames(names, limit, nameOf)
      return sendParts('addMonitoredDomains', account, parts, nameOf, (error, count, part) => {
        if (count === 0) return withLines(error, part)
        // Added names must not be sent again, because the service would refuse them.
        const rest = names.slice(count).map(({ name }, index) => ({ name, line: index + 1 }))
        text.value = rest.map(nameOf).join('\n')
        return withLines(error, rest, ` ${formatDeed(count, 'domain', 'added')} Only the others are left above.`)
      })
    },
    note: (count) => formatDeed(count, 'domain', 'added'),
  })
}

/**
 * Sends names in several requests, and resolves to their number. `explain` makes the error if one of them fails after
 * `count` names.
 */
async function sendParts<Item>(
  operation: 'addMonitoredDomains' | 'removeMonitoredDomains',
  account: string,
  parts: readonly Item[][],
  nameOf: (item: Item) => string,
  explain: (error: unknown, count: number, part: Item[]) => unknown,
): Promise<number> {
  let count = 0
  for (const part of parts) {
    try {
      await changeAsService(operation, { body: { domains: part.map(nameOf) }, account })
    } catch (error) {
      const explained = explain(error, count, part)
      if (count > 0) await refreshAfterChange()
      throw explained
    }
    count += part.length
  }
  await refreshAfterChange()
  return count
}

function Fields({ text, limit }: { text: Signal<string>; limit: number | null }) {
  const names = readNames(text.value)
  return (
    <>
      <label>
        Domains, one in each line
        <textarea
          name="domains"
          rows={8}
          class="mono"
          spellcheck={false}
          autocapitalize="none"
          value={text.value}
          placeholder={'shop.example\nmail.shop.example'}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        />
      </label>
      <p class="soft" role="status">
        {describeNames(names, divideNames(names, limit, nameOf).length, limit)}
      </p>
    </>
  )
}

/** Adds the line numbers to a refusal. `words` are added to the message. */
function withLines(error: unknown, names: readonly TypedName[], words = ''): unknown {
  if (!(error instanceof Refused)) return addWords(error, words)
  const { status, code, message, problems } = error
  const located = problems.map((problem) => {
    const typed = names[placeIn(problem.field) ?? -1]
    return typed === undefined ? problem : { ...problem, message: nameLine(problem.message, typed.line) }
  })
  const [first] = located
  const isLocated = first !== undefined && first.message !== problems[0]?.message
  return addWords(new Refused(status, { code, message: isLocated ? first.message : message, problems: located }), words)
}

/** Replaces an item of the request such as `domains[2]` at the beginning of a message by its line. */
function nameLine(message: string, line: number): string {
  const rest = message.replace(/^`domains\[\d+\]`/, '')
  return rest === message ? `Line ${line}: ${message}` : `Line ${line}${rest}`
}

function describeNames(names: readonly TypedName[], requests: number, limit: number | null): string {
  if (names.length === 0) return 'Commas, semicolons and spaces divide names, too.'
  const start = `${formatCount(names.length, 'domain')}, sent as typed`
  if (requests < 2) return `${start}.`
  const reason = limit === null ? '' : `, because one takes at most ${limit}`
  return `${start} in ${requests} requests${reason}.`
}

/** How many domains a request of an operation may contain; null without a limit. */
function limitOf(operation: string): number | null {
  return FACTS.operations.find(({ id }) => id === operation)?.mostDomains ?? null
}

function nameOf({ name }: TypedName): string {
  return name
}

/** Asks for confirmation, and removes the domains by the rules of the service. Resolves to false if it did not. */
export async function removeDomains(domains: readonly MonitoredDomain[]): Promise<boolean> {
  const account = chosenAccount.peek()
  const used = domains.filter(({ features }) => features.length > 0)
  const [only] = domains
  const title =
    domains.length === 1 && only ? `Remove ${only.domain}?` : `Remove ${formatCount(domains.length, 'domain')}?`
  const removed = await openDialog(title, <Question domains={domains} used={used} />, {
    submit: 'Remove',
    danger: true,
    work(fields) {
      const removable = fields.has('leave') ? domains.filter(({ features }) => features.length === 0) : domains
      const parts = divideNames(removable, limitOf('deleteDomains'), ({ domain }) => domain)
      const explain = (error: unknown, count: number) =>
        count === 0 ? error : addWords(error, ` ${formatDeed(count, 'domain', 'removed')}`)
      return sendParts('removeMonitoredDomains', account, parts, ({ domain }) => domain, explain)
    },
    note: (count) => formatDeed(count, 'domain', 'removed'),
  })
  return removed !== undefined
}

function Question({ domains, used }: { domains: readonly MonitoredDomain[]; used: readonly MonitoredDomain[] }) {
  return (
    <>
      <FirstNames names={domains.map(({ domain }) => domain)} />
      <p>
        {domains.length === 1 ? 'It is removed from its groups' : 'They are removed from their groups'}, too. A domain
        that is added again begins to count its messages from zero.
      </p>
      {used.length > 0 && (
        <>
          <p>
            {describeUse(domains.length, used.length)}, so the service is going to refuse a request that names{' '}
            {used.length === 1 ? 'it' : 'them'}.
          </p>
          {used.length < domains.length && <Checkbox name="leave" words="Leave out what is in use" />}
        </>
      )}
    </>
  )
}

function describeUse(count: number, used: number): string {
  if (count === 1) return 'A monitoring feature uses it'
  return used === 1 ? 'A monitoring feature uses one of them' : `Monitoring features use ${used} of them`
}

const USUAL_FEATURES = ['mta-sts', 'tls-rpt', 'bimi']

export async function changeDomain(domain: MonitoredDomain): Promise<void> {
  const account = chosenAccount.peek()
  const saved = await openDialog(`Change ${domain.domain}`, <PinFields domain={domain} />, {
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
    // Removing the fixed values also resets the chosen profile. The user did not ask for that, so it is set again.
    const now = monitored.data.peek()?.find((each) => each.domain === domain)
    if (now !== undefined && now.profile !== profile) await call('pinDmarc', { parameters, body: { profile } })
  } else if (pin !== undefined) {
    await call('pinDmarc', { parameters, body: pin })
  }
  if (features !== undefined) await call('setFeatures', { parameters, body: { features } })
}

/** Removes the fixed values of a domain, so that its record follows the generated figures again. */
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
