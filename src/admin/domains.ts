import type { MonitoredDomain } from '../domain/account.ts'
import { contradictionIn, type RecordPin, refreshDay } from '../domain/dmarc.ts'
import { accept } from '../domain/errors.ts'
import type { ProfileName } from '../domain/profile.ts'
import { recordOn } from '../figures/figures.ts'
import { usualBeginning } from '../figures/profiles.ts'
import { type AccountCall, type AccountHandler, type ControlOutcome, done } from './handler.ts'
import { invalid, notFound } from './refusals.ts'
import type { DomainReport } from './reports.ts'

export const setFeatures: AccountHandler = (call) => {
  const features = call.body['features'] as string[]
  return changeDomain(call, (domain) => ({ ...domain, features }))
}

export const pinDmarc: AccountHandler = (call) => {
  const { profile, ...pin } = call.body as RecordPin & { profile?: ProfileName }
  const today = refreshDay(call.now, call.contract.settings.refresh)
  const contradiction = contradictionIn(pin)
  if (contradiction) return invalid('', call.body, 'contradiction', { expected: contradiction })
  // Without a profile in the request, the domain keeps its own: a fixed policy should not change the volume of mail.
  return changeDomain(call, ({ pin: _, ...domain }) => ({
    ...domain,
    ...(profile !== undefined && profile !== domain.profile && { profile, since: usualBeginning(profile, today) }),
    ...(Object.keys(pin).length > 0 && { pin }),
  }))
}

export const unpinDmarc: AccountHandler = (call) => {
  return changeDomain(call, ({ pin: _, profile: __, since: ___, ...domain }) => domain)
}

async function changeDomain(
  call: AccountCall,
  change: (domain: MonitoredDomain) => MonitoredDomain,
): Promise<ControlOutcome> {
  const { store, account, contract, parameters, now } = call
  const given = parameters['domain'] ?? ''
  const name = contract.canonicalHostname(given) ?? given
  const decision = await store.update(account.id, (state) => {
    const domain = state.domains.get(name)
    if (domain === undefined) return notFound('domain', given)
    const next = change(domain)
    return accept({ ...state, domains: state.domains.set(name, next) }, next)
  })
  if (!decision.ok) return decision
  const domain = decision.value
  const record = recordOn(decision.state, domain, refreshDay(now, contract.settings.refresh), contract)
  const report: DomainReport = { domain: name, features: [...domain.features], record: record ?? null }
  return done(report)
}
