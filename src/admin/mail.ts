import type { MonitoredDomain } from '../domain/account.ts'
import { COUNT_PERIOD, type Policy, refreshDay } from '../domain/dmarc.ts'
import { givenFields } from '../domain/given-fields.ts'
import { writeDay } from '../domain/iso-8601.ts'
import { recordOn, reportsOn } from '../figures/figures.ts'
import { describeChange, SENDER_WORDS, UNKNOWN_SENDERS } from '../figures/mail-words.ts'
import { changePolicy } from '../figures/policy-change.ts'
import { kindOf, sendersOf } from '../figures/senders.ts'
import { runInTurns } from '../ground/work.ts'
import type { AdminRefusal } from './codes.ts'
import { type AccountCall, type AccountHandler, done } from './handler.ts'
import { notFound } from './refusals.ts'
import type { PolicyChangeReport, SendersReport } from './reports.ts'

export const getSenders: AccountHandler<SendersReport> = (call) => {
  const domain = findDomain(call)
  if ('ok' in domain) return domain
  const { account, contract } = call
  const { today, reports, common } = describe(call, domain)
  const isKnown = reports === 'received'
  const record = isKnown || reports === 'fixed' ? recordOn(account, domain, today, contract) : undefined
  const senders = sendersOf(account, domain, today, contract).map(({ sender, counts }) => {
    const { both, dkimOnly, spfOnly, neither } = counts
    return {
      sender,
      ...SENDER_WORDS[sender],
      kind: kindOf(sender),
      messages: both + dkimOnly + spfOnly + neither,
      passing: both + dkimOnly + spfOnly,
      dkim_aligned: both + dkimOnly,
      spf_aligned: both + spfOnly,
    }
  })
  const sum = (field: 'passing' | 'dkim_aligned' | 'spf_aligned') =>
    isKnown ? senders.reduce((all, sender) => all + sender[field], 0) : null
  return done({
    ...common,
    messages: record?.count ?? null,
    ...{ passing: sum('passing'), dkim_aligned: sum('dkim_aligned'), spf_aligned: sum('spf_aligned') },
    share: record === undefined || record.count === 0 ? null : record.dmarc,
    senders: isKnown ? senders.toSorted((one, other) => other.messages - one.messages) : null,
    note: UNKNOWN_SENDERS[reports] ?? null,
  })
}

export const getPolicyChange: AccountHandler<PolicyChangeReport> = async (call) => {
  const domain = findDomain(call)
  if ('ok' in domain) return domain
  const { account, contract, query } = call
  const { today, reports, common } = describe(call, domain)
  const given = givenFields({
    p: query['p'] as Policy,
    sp: query['sp'] as Policy | undefined,
    pct: query['pct'] === undefined ? undefined : Number(query['pct']),
    testing: query['testing'] as 'y' | 'n' | undefined,
  })
  const change = await runInTurns(changePolicy(account, domain, given, today, contract))
  const { now, changed, itself, below, inheriting, unknown } = change
  return done({
    ...common,
    ...{ now: now ?? null, changed, mail: itself ?? null },
    below: { domains: inheriting, unknown, ...below },
    message: describeChange(change, common.period_days, reports),
  })
}

function findDomain({ account, contract, parameters }: AccountCall): MonitoredDomain | AdminRefusal {
  const given = parameters['domain'] ?? ''
  return account.domains.get(contract.canonicalHostname(given) ?? given) ?? notFound('domain', given)
}

function describe({ account, contract, now }: AccountCall, domain: MonitoredDomain) {
  const { refresh } = contract.settings
  const today = refreshDay(now, refresh)
  const reports = reportsOn(account, domain, today, contract)
  const common = { domain: domain.name, date: writeDay(today), period_days: COUNT_PERIOD, reports }
  return { today, reports, common }
}
