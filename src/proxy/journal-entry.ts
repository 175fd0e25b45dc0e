import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { Contract } from '../contract/contract.ts'
import type { SeenBody } from '../exchanges/exchange.ts'
import { codeIn } from '../exchanges/reading.ts'
import type { Content } from '../http/content.ts'
import { createRouter } from '../http/router.ts'
import { splitTarget } from '../http/target.ts'
import { NOT_ADMITTED } from '../journal/entry.ts'
import type { Journal, NewEntry } from '../journal/journal.ts'
import { isFailure, partyOf } from '../judge/finding.ts'
import type { ExchangeJudgement } from './judge.ts'
import type { Sighting } from './sighting.ts'
import type { PassedExchange } from './traffic.ts'

/** The largest JSON that is parsed, in bytes. Parsing a larger one would delay the traffic that is passed on. */
export const LARGEST_JSON = 1 << 20
const SECRET = /^(?:authorization|proxy-authorization|cookie2?|set-cookie2?)$/i

/** Makes the function that writes an exchange, and what the judgement has found in it, as an entry of the journal. */
export function createEntryWriter(contract: Contract, journal: Journal) {
  const findRoute = createRouter(contract, contract.settings)

  return function writeEntry(
    { exchange, recorded, redact, isOfService }: Sighting,
    passed: PassedExchange,
    { findings }: ExchangeJudgement,
  ): NewEntry {
    const { request, response } = exchange
    const { path } = splitTarget(request.target)
    const route = isOfService ? findRoute(request.method, path) : undefined
    const failures = findings.filter(isFailure).map((finding) => ({ ...finding, by: partyOf(finding) }))
    const shown = (fields: readonly (readonly [string, string])[]) =>
      fields.filter(([name]) => !SECRET.test(name)).flatMap(([name, value]) => [redact(name), redact(value)])
    return {
      ...NOT_ADMITTED,
      requestId: exchange.id,
      at: exchange.at,
      duration: Math.round((passed.ended - passed.started) * 1000) / 1000,
      account: DEFAULT_ACCOUNT,
      key: request.credentials.kind === 'sent' && request.credentials.key !== '' ? request.credentials.key : undefined,
      method: request.method,
      target: request.target,
      path,
      headers: shown(recorded.request.fields),
      body: contentOf(request.body, passed.request.body.size),
      operation: route?.ok ? route.operation : undefined,
      status: response?.status,
      code: response && codeIn(response, LARGEST_JSON),
      problems: [],
      violatesContract: failures.some(({ by }) => by === 'client'),
      responseHeaders: shown(recorded.response?.fields ?? []),
      responseBody: response && contentOf(response.body, passed.response?.body.size ?? 0),
      violations: failures,
    }
  }

  function contentOf(body: SeenBody, size: number): Content | undefined {
    if (!body.isKnown) return size > 0 ? { held: Buffer.alloc(0), size } : undefined
    const { bytes } = body
    return bytes.length === 0 ? undefined : journal.keepBody({ held: bytes, size: bytes.length })
  }
}
