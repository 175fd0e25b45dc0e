import type { Policy, PolicyTags } from '../domain/dmarc.ts'
import type { ReportState } from './figures.ts'
import type { Fates, MailUnderChange, PolicyChange } from './policy-change.ts'
import type { SenderName } from './senders.ts'

/** The name of a sender for a person, and why its mail passes or fails. */
export const SENDER_WORDS: Readonly<Record<SenderName, { name: string; reason: string }>> = {
  'own-servers': { name: 'Own mail servers', reason: 'They are in the SPF record, and they sign as the domain.' },
  'newsletter-provider': {
    name: 'Newsletter provider',
    reason: 'It is set up: SPF is aligned, and it signs as the domain.',
  },
  applications: {
    name: 'Applications without DKIM',
    reason: 'They are in the SPF record, but sign nothing. Their mail fails where it is forwarded.',
  },
  'wrong-key': {
    name: 'Sender with a wrong DKIM key',
    reason: 'Its signature does not fit the key in DNS. Mail without aligned SPF, such as forwarded mail, fails.',
  },
  'missing-in-spf': {
    name: 'Sender that SPF misses',
    reason: 'The SPF record does not list its servers. Mail that it does not sign fails.',
  },
  'new-provider': {
    name: 'New provider',
    reason: 'Its bounces go to another domain, so SPF is not aligned. Only mail that it signs as the domain passes.',
  },
  'not-set-up': {
    name: 'Senders that are not set up',
    reason: 'The domain uses them, but SPF does not list them, and they do not sign as the domain.',
  },
  forwarders: {
    name: 'Forwarders',
    reason: 'They pass mail on from their own servers, which breaks SPF. Only mail with a valid signature passes.',
  },
  'mailing-lists': {
    name: 'Mailing lists',
    reason: 'They change the message and send it from their own servers, which breaks the signature and SPF.',
  },
  forgers: {
    name: 'Unknown servers (forged mail)',
    reason: 'Others use the name of the domain. Neither SPF nor DKIM is aligned.',
  },
}

/** Why the senders of a domain are not known; `undefined` if they are. */
export const UNKNOWN_SENDERS = {
  received: undefined,
  awaited: 'The first report has not come yet, so its senders are not known.',
  none: 'No DMARC record applies, so receivers send no reports, and nobody knows who sends in its name.',
  fixed: 'Its figures have fixed values, so no sender explains them.',
} as const satisfies Record<ReportState, string | undefined>

/** What a change of policy does, in sentences that a presenter can read aloud. `period` is in days. */
export function describeChange(change: PolicyChange, period: number, reports: ReportState): string {
  const { itself, inheriting } = change
  const own =
    itself === undefined ? [UNKNOWN_SENDERS[reports] ?? UNKNOWN_SENDERS.awaited] : itselfIn(change, itself, period)
  return [...own, ...(inheriting > 0 ? belowIn(change) : [])].join(' ')
}

function itselfIn({ now, changed }: PolicyChange, mail: MailUnderChange, period: number): string[] {
  const condition = `If the policy were ${nameTags(changed)}`
  const days = period === 1 ? 'day' : `${period} days`
  if (mail.messages === 0)
    return [`${condition}, nothing would change: receivers reported no mail in the last ${days}.`]
  const today = now === undefined ? 'no policy' : `the policy ${nameTags(now)}`
  return [
    `${condition}, then of its ${count(mail.messages)} in the last ${days}, ${outcome(mail.changed)}.`,
    ...affected(mail),
    `Today, with ${today}, ${outcome(mail.now, '')}.`,
  ]
}

function belowIn({ changed, below, inheriting, unknown }: PolicyChange): string[] {
  const [names, whose] =
    inheriting === 1 ? ['1 domain below it has', 'its'] : [`${number(inheriting)} domains below it have`, 'their']
  const policy = changed.sp ?? changed.p
  const mail = below.messages === 0 ? '' : `: of ${whose} ${count(below.messages)}, ${outcome(below.changed)}`
  return [
    `${names} no record, so there the policy would be ${policy}${mail}.`,
    ...(unknown > 0 ? [`The mail of ${number(unknown)} of ${inheriting === 1 ? 'these' : 'them'} is not known.`] : []),
  ]
}

/** The sentence about the messages that are not delivered. */
function affected({ changed: { quarantined, rejected } }: MailUnderChange): string[] {
  const [stopped, forged] = [quarantined.messages + rejected.messages, quarantined.forged + rejected.forged]
  if (stopped === 0) return []
  const misconfigured = quarantined.misconfigured + rejected.misconfigured
  const forwarded = quarantined.forwarded + rejected.forwarded
  const legitimate = misconfigured + forwarded
  const part = (messages: number) => (messages === legitimate ? '' : `${number(messages)} `)
  const parts = [
    ...(misconfigured > 0 ? [`${part(misconfigured)}from senders that are not set up well`] : []),
    ...(forwarded > 0 ? [`${part(forwarded)}forwarded`] : []),
  ]
  const good =
    legitimate === 0
      ? 'none is legitimate'
      : `${number(legitimate)} ${legitimate === 1 ? 'is' : 'are'} legitimate (${parts.join(', ')})`
  return [
    `Of the ${number(stopped)} that would not reach an inbox, ${good}, and ${number(forged)} ${forged === 1 ? 'is' : 'are'} forged.`,
  ]
}

/** What receivers do with the messages. */
function outcome({ delivered, quarantined, rejected }: Fates, would: 'would ' | '' = 'would '): string {
  const parts = [
    ...(quarantined.messages > 0 ? [`put ${number(quarantined.messages)} into spam folders`] : []),
    ...(rejected.messages > 0 ? [`reject ${number(rejected.messages)}`] : []),
  ]
  const all = delivered.messages > 0 && parts.length === 0 ? 'all of them' : number(delivered.messages)
  const list = [`deliver ${all}`, ...parts]
  return `receivers ${would}${list.length > 1 ? `${list.slice(0, -1).join(', ')} and ${list.at(-1)}` : list[0]}`
}

function nameTags({ p, pct = 100, testing }: PolicyTags): string {
  const policy: Policy = p
  const part = pct < 100 && policy !== 'none' ? ` for ${pct} % of the mail that fails` : ''
  return `${policy}${testing === 'y' && policy !== 'none' ? ', only tested,' : ''}${part}`
}

function count(messages: number): string {
  return messages === 1 ? '1 message' : `${number(messages)} messages`
}

function number(value: number): string {
  return value.toLocaleString('en')
}
