import type { MonitoredDomain } from '../domain/account.ts'
import { inheritTags, type MessageCounts, type Policy, type PolicyTags } from '../domain/dmarc.ts'
import { givenFields } from '../domain/given-fields.ts'
import { PAUSE, type Work } from '../ground/work.ts'
import { type FigureRules, type Monitoring, recordSource, reportsOn, tagsInEffect } from './figures.ts'
import { kindOf, sendersOf } from './senders.ts'

/** Messages by their origin. The failing ones are those of the domain's own senders, forwarded ones, and forged ones. */
export interface Mail {
  messages: number
  passing: number
  misconfigured: number
  forwarded: number
  forged: number
}

/** What receivers do to messages. */
export interface Fates {
  delivered: Mail
  quarantined: Mail
  rejected: Mail
}

/** The fates of the mail of some domains, under the policy of today and under another one. */
export interface MailUnderChange {
  messages: number
  now: Fates
  changed: Fates
}

/** What another policy would do to the mail that the newest record counts. */
export interface PolicyChange {
  /** The tags that apply today; absent if no record applies. */
  now: PolicyTags | undefined
  changed: PolicyTags
  /** The mail of the domain; absent if nothing is known about its senders. */
  itself: MailUnderChange | undefined
  /** The mail of the monitored domains below it that have no record of their own. */
  below: MailUnderChange
  /** How many such domains there are, and about how many of them nothing is known. */
  inheriting: number
  unknown: number
}

const NOTHING: Readonly<Mail> = { messages: 0, passing: 0, misconfigured: 0, forwarded: 0, forged: 0 }

/**
 * The effect of other tags on the mail of the record of the refresh `day`. Tags that are not given change as in a
 * record that is published anew: `sp` stays as it is published, all failing messages are subject to the policy, and it
 * is no test.
 */
export function* changePolicy(
  account: Monitoring,
  domain: MonitoredDomain,
  given: PolicyTags,
  day: number,
  rules: FigureRules,
): Work<PolicyChange> {
  const now = tagsInEffect(account, domain, day, rules)
  const source = recordSource(account, domain, day, rules)
  const keptSp = source === domain ? now?.sp : undefined
  const changed: PolicyTags = givenFields({ sp: keptSp, ...given })
  const suffix = `.${domain.name}`
  const change: PolicyChange = {
    ...{ now, changed, itself: undefined, inheriting: 0, unknown: 0 },
    below: underChange(NOTHING, now, changed),
  }
  if (reportsOn(account, domain, day, rules) === 'received') {
    change.itself = underChange(mailOf(account, domain, day, rules), now, changed)
  }
  let seen = 0
  // A copy, because an iterator would show later changes after a pause.
  for (const each of [...account.domains.values()]) {
    if (++seen % PAUSE === 0) yield
    if (!each.name.endsWith(suffix) || recordSource(account, each, day, rules) !== source) continue
    if (source === undefined || source === each) continue
    change.inheriting += 1
    if (reportsOn(account, each, day, rules) !== 'received') {
      change.unknown += 1
      continue
    }
    const present = tagsInEffect(account, each, day, rules)
    const mail = underChange(mailOf(account, each, day, rules), present, inheritTags(changed))
    change.below = addChanges(change.below, mail)
  }
  return change
}

function mailOf(account: Monitoring, domain: MonitoredDomain, day: number, rules: FigureRules): Mail {
  const mail = { ...NOTHING }
  for (const { sender, counts } of sendersOf(account, domain, day, rules)) {
    const kind = kindOf(sender)
    mail.messages += sumOf(counts)
    mail.passing += sumOf(counts) - counts.neither
    mail[kind === 'own' ? 'misconfigured' : kind] += counts.neither
  }
  return mail
}

function sumOf({ both, dkimOnly, spfOnly, neither }: MessageCounts): number {
  return both + dkimOnly + spfOnly + neither
}

function underChange(mail: Mail, now: PolicyTags | undefined, changed: PolicyTags): MailUnderChange {
  return { messages: mail.messages, now: fatesOf(mail, now ?? { p: 'none' }), changed: fatesOf(mail, changed) }
}

const FATES = { none: 'delivered', quarantine: 'quarantined', reject: 'rejected' } as const satisfies Record<
  Policy,
  keyof Fates
>
const SOFTER = { reject: 'quarantine', quarantine: 'none', none: 'none' } as const satisfies Record<Policy, Policy>

/**
 * Test mode makes a policy one level softer (RFC 9989 §4.7). With `pct`, this happens to the messages that are not in
 * the sample (RFC 7489 §6.6.4).
 */
function fatesOf(mail: Mail, { p, pct = 100, testing = 'n' }: PolicyTags): Fates {
  const fates: Fates = { delivered: { ...NOTHING }, quarantined: { ...NOTHING }, rejected: { ...NOTHING } }
  const policy = testing === 'y' ? SOFTER[p] : p
  const add = (fate: keyof Fates, kind: keyof Omit<Mail, 'messages'>, count: number) => {
    fates[fate][kind] += count
    fates[fate].messages += count
  }
  add('delivered', 'passing', mail.passing)
  for (const kind of ['misconfigured', 'forwarded', 'forged'] as const) {
    const sampled = Math.round((mail[kind] * pct) / 100)
    add(FATES[policy], kind, sampled)
    add(FATES[SOFTER[policy]], kind, mail[kind] - sampled)
  }
  return fates
}

function addChanges(one: MailUnderChange, other: MailUnderChange): MailUnderChange {
  const addMail = (left: Mail, right: Mail): Mail => ({
    messages: left.messages + right.messages,
    passing: left.passing + right.passing,
    misconfigured: left.misconfigured + right.misconfigured,
    forwarded: left.forwarded + right.forwarded,
    forged: left.forged + right.forged,
  })
  const addFates = (left: Fates, right: Fates): Fates => ({
    delivered: addMail(left.delivered, right.delivered),
    quarantined: addMail(left.quarantined, right.quarantined),
    rejected: addMail(left.rejected, right.rejected),
  })
  return {
    messages: one.messages + other.messages,
    now: addFates(one.now, other.now),
    changed: addFates(one.changed, other.changed),
  }
}
