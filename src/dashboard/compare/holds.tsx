import type { ComponentChildren } from 'preact'
import type { Place, Tab } from '../address.ts'
import { Link } from '../controls/link.tsx'
import { describeRule } from '../faults/words.tsx'
import { formatInstant, formatNumber } from '../formatting.ts'
import type { ComparedSide, Comparison, FaultRule } from '../responses.ts'
import { type SideNames, Versus, type VersusRow } from './versus.tsx'

type Holdings = Comparison['holds']
type List = Holdings['domains']
type Difference = List['different']['listed'][number]
/** The fields of a thing on one side. */
type Fields = NonNullable<Difference['one']>

const KINDS: readonly { list: 'domains' | 'groups' | 'keys' | 'faults' | 'quotas'; title: string; tab: Tab }[] = [
  { list: 'domains', title: 'Domains', tab: 'domains' },
  { list: 'groups', title: 'Groups', tab: 'groups' },
  { list: 'keys', title: 'Keys', tab: 'account' },
  { list: 'faults', title: 'Fault rules', tab: 'faults' },
  { list: 'quotas', title: 'Quotas left', tab: 'account' },
]

const FIELDS: Readonly<Record<string, string>> = {
  policy: 'DMARC policy',
  pinned: 'Fields fixed by hand (pin)',
  features: 'Monitoring features',
  profile: 'Kind of mail',
  volume: 'Messages in an ordinary month',
  spelling: 'Spelling',
  name: 'Name',
  members: 'Members',
  label: 'Label',
  disabled: 'Disabled',
  remaining: 'requests left',
  limit: 'Limit',
}

interface HoldsProps {
  holds: Holdings
  one: ComparedSide
  other: ComparedSide
  names: SideNames
}

export function Holds({ holds, one, other, names }: HoldsProps) {
  const settings: Readonly<Record<Holdings['settings'][number], (side: ComparedSide) => string>> = {
    plan: ({ plan }) => plan,
    seed: ({ seed }) => `${seed}`,
    clock: ({ now, frozen }) => `${formatInstant(now)}, ${frozen ? 'frozen' : 'running'}`,
  }
  const rows = holds.settings.map((name): VersusRow => {
    const write = settings[name]
    return { name, about: name, one: { text: write(one) }, other: { text: write(other) } }
  })
  return (
    <>
      {rows.length > 0 && (
        <section class="stack" aria-label="Settings">
          <h3>Settings</h3>
          <Versus title="Settings that differ" what="Setting" names={names} rows={rows} />
        </section>
      )}
      {KINDS.map((kind) => (
        <Kind key={kind.list} list={holds[kind.list]} kind={kind} one={one} other={other} names={names} />
      ))}
    </>
  )
}

interface KindProps extends Omit<HoldsProps, 'holds'> {
  list: List
  kind: (typeof KINDS)[number]
}

function Kind({ list, kind: { title, tab }, one, other, names }: KindProps) {
  const { alike, different, only_in_one, only_in_other } = list
  if (different.count + only_in_one.count + only_in_other.count === 0) return null
  return (
    <section class="stack" aria-label={title}>
      <h3>
        {title}: {formatNumber(alike)} the same
      </h3>
      <Only side={one} name={names.one} tab={tab} found={only_in_one} />
      <Only side={other} name={names.other} tab={tab} found={only_in_other} />
      {different.count > 0 && (
        <div class="stack">
          <h4>In both, but different: {formatNumber(different.count)}</h4>
          <Versus
            title={`${title} that differ`}
            what={title}
            names={names}
            rows={different.listed.flatMap((each) => rowsOf(each, tab, one, other))}
          />
          <More count={different.count - different.listed.length} />
        </div>
      )}
    </section>
  )
}

interface OnlyProps {
  side: ComparedSide
  name: string
  tab: Tab
  found: List['different']
}

function Only({ side, name, tab, found: { count, listed } }: OnlyProps) {
  if (count === 0) return null
  return (
    <div>
      <h4>
        Only in <bdi>{name}</bdi>: {formatNumber(count)}
      </h4>
      <ul class="plain">
        {listed.map((each, index) => (
          <li key={`${each.name} ${index}`}>
            <Held to={placeOf(side, tab, each)}>
              <bdi>{nameOf(each)}</bdi>
            </Held>
          </li>
        ))}
      </ul>
      <More count={count - listed.length} />
    </div>
  )
}

/** A link, unless the page cannot show the thing: the page does not show what a snapshot holds. */
function Held({ to, children }: { to: Place | undefined; children: ComponentChildren }) {
  return to === undefined ? children : <Link to={to}>{children}</Link>
}

function rowsOf(each: Difference, tab: Tab, one: ComparedSide, other: ComparedSide): VersusRow[] {
  const name = nameOf(each)
  return each.fields.map((field) => {
    const words = FIELDS[field] ?? field
    return {
      name: (
        <>
          <bdi>{name}</bdi>: <span class="soft">{words}</span>
        </>
      ),
      about: `${name}, ${words}`,
      one: { text: write(field, each.one), ...givenPlace(placeOf(one, tab, each)) },
      other: { text: write(field, each.other), ...givenPlace(placeOf(other, tab, each)) },
    }
  })
}

function givenPlace(to: Place | undefined): { to?: Place } {
  return to === undefined ? {} : { to }
}

function placeOf({ account, snapshot }: ComparedSide, tab: Tab, { name }: Difference): Place | undefined {
  if (snapshot !== null) return undefined
  const subject = tab === 'domains' || tab === 'groups' ? name : undefined
  return { account, tab, ...(subject !== undefined && { subject }), parameters: {} }
}

function More({ count }: { count: number }) {
  return count > 0 ? <p class="soft">and {formatNumber(count)} more</p> : null
}

function nameOf({ name, one, other }: Difference): string {
  const { disabled, key, rule } = one ?? other ?? {}
  if (rule !== undefined) return describeRule(rule as FaultRule)
  if (typeof key === 'string') return `${name} of the key ${key}`
  // The first key of an account has no label.
  const named = name === '' ? 'the key without a label' : name
  return disabled === true && (one === null || other === null) ? `${named} (disabled)` : named
}

function write(field: string, held: Fields | null): string {
  const value = held?.[field]
  if (field === 'members') return writeMembers(held)
  if (field === 'policy' && value === null) return 'no record'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ')
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value).map(([name, each]) => `${name}=${each}`)
    return parts.length === 0 ? 'nothing' : parts.join(' ')
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'number' ? formatNumber(value) : `${value ?? ''}`
}

function writeMembers(held: Fields | null): string {
  const { members, only_here, only_here_count } = held ?? {}
  if (!Array.isArray(only_here) || typeof members !== 'number' || typeof only_here_count !== 'number') return ''
  const rest = only_here_count - only_here.length
  const only = only_here.length === 0 ? '' : `, only here: ${only_here.join(', ')}`
  return `${formatNumber(members)}${only}${rest > 0 ? ` and ${formatNumber(rest)} more` : ''}`
}
