import { contradictionInRecords } from '../accounts/validation.ts'
import type { DomainEvent, DomainReport, MonitoredDomainReport, PathOf } from '../contract/control-plane.ts'
import type { AccountState, MonitoredDomain } from '../domain/account.ts'
import { contradictionIn, refreshDay } from '../domain/dmarc.ts'
import { changePin } from '../domain/domains.ts'
import { accept } from '../domain/errors.ts'
import { writeDay, writeInstant } from '../domain/iso-8601.ts'
import { publishedTags } from '../figures/character.ts'
import { eventsOf } from '../figures/events.ts'
import { characterIn, recordOn, reportsOn, sourceOf } from '../figures/figures.ts'
import { usualBeginning } from '../figures/profiles.ts'
import { valueAt } from '../ground/json.ts'
import { type AccountContext, type ControlOutcome, changeAccount, type Handlers } from './handler.ts'
import { answerPage } from './paging.ts'
import { invalid, notFound } from './refusals.ts'
import { changeAsService } from './service-change.ts'

/** The events of a domain are listed for this many days before and after today. */
const EVENTS = { before: 60, after: 90 }

export const domainHandlers = {
  listMonitoredDomains: (call) =>
    answerPage(call, 'domains', {
      items: call.account.domains.values(),
      idOf: ({ name }) => name,
      report: (domain) => reportDomain(call, domain),
    }),

  addMonitoredDomains: changeAsService<'addMonitoredDomains'>('addDomains', 'domains', 'count'),
  removeMonitoredDomains: changeAsService<'removeMonitoredDomains'>('deleteDomains', 'domains', 'count'),

  setFeatures(call) {
    const { features } = call.body
    return changeDomain(call, (domain) => ({ ...domain, features }))
  },

  pinDmarc(call) {
    const { profile, ...pin } = call.body
    const today = refreshDay(call.now, call.contract.settings.refresh)
    const contradiction = contradictionIn(pin)
    if (contradiction) return invalid('', call.body, 'contradiction', { expected: contradiction })
    // If the request has no profile, the domain keeps its own: a fixed policy should not change the volume of mail.
    const fixed = Object.keys(pin).length > 0 ? pin : undefined
    return changeDomain(call, (domain) => ({
      ...changePin(domain, fixed, call.now),
      ...(profile !== undefined && profile !== domain.profile && { profile, since: usualBeginning(profile, today) }),
    }))
  },

  unpinDmarc: (call) =>
    changeDomain(call, ({ profile: _, since: __, ...domain }) => changePin(domain, undefined, call.now)),
} satisfies Handlers

function reportDomain({ account, contract, now }: AccountContext, domain: MonitoredDomain): MonitoredDomainReport {
  const { name, addedAt, features, pin = {}, pinnedAt } = domain
  const today = refreshDay(now, contract.settings.refresh)
  const days = { first: today - EVENTS.before, last: today + EVENTS.after }
  const character = characterIn(account.seed, domain)
  const source = sourceOf(account, domain, today, contract.settings)
  return {
    domain: name,
    added_at: writeInstant(addedAt),
    features: [...features],
    profile: character.profile,
    policy: publishedTags(character, today) ?? null,
    inherits_from: source === domain ? null : (source?.name ?? null),
    volume: Math.round(character.usual.volume * character.monthly),
    reports: reportsOn(account, domain, today, contract),
    pinned: pin,
    pinned_at: pinnedAt === undefined ? null : writeInstant(pinnedAt),
    record: recordOn(account, domain, today, contract) ?? null,
    events: eventsOf(account, domain, today, days, contract).map(({ kind, from, until, description }) => ({
      kind,
      state: stateOf(from, until, today),
      from: from === undefined ? null : writeDay(from),
      until: until === undefined ? null : writeDay(until),
      description,
    })),
  }
}

function stateOf(from: number | undefined, until: number | undefined, today: number): DomainEvent['state'] {
  if (from !== undefined && from > today) return 'planned'
  return until !== undefined && until <= today ? 'past' : 'present'
}

function changeDomain(
  call: AccountContext & { parameters: PathOf<'pinDmarc'>; body?: unknown },
  change: (domain: MonitoredDomain) => MonitoredDomain,
): Promise<ControlOutcome<DomainReport>> {
  const { contract, parameters, now } = call
  const given = parameters.domain
  const name = contract.canonicalHostname(given) ?? given
  const decide = (state: AccountState) => {
    const domain = state.domains.get(name)
    if (domain === undefined) return notFound('domain', given)
    const next = change(domain)
    const contradiction = contradictionInRecords({ domains: [next], seed: state.seed }, contract, now)
    if (contradiction !== undefined) {
      const field = contradiction.pointer.replace(/^.domains.0(.pin)?/, '')
      const expected = field === '' ? contradiction.reason : `has ${field.slice(1)}, which ${contradiction.reason}`
      return invalid(field, valueAt(call.body, field), 'contradiction', { expected })
    }
    return accept({ ...state, domains: state.domains.set(name, next) }, next)
  }
  return changeAccount(call, decide, (changed, domain) => {
    const record = recordOn(changed, domain, refreshDay(now, contract.settings.refresh), contract)
    return { domain: name, features: [...domain.features], record: record ?? null }
  })
}
