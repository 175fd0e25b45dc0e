import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { Contract } from '../../src/contract/contract.ts'
import type { Problem } from '../../src/domain/errors.ts'
import { findContractProblems } from '../../src/evidence/contract-problems.ts'
import { FigureTrack } from '../../src/evidence/figures.ts'
import type { Finding } from '../../src/evidence/finding.ts'
import type { Assignment, Observation } from '../../src/evidence/observation.ts'
import type { Permitted } from '../../src/evidence/permitted.ts'
import { observePresentation } from '../../src/evidence/presentation.ts'
import { QuotaTrack } from '../../src/evidence/quotas.ts'
import { createReader, type Reading } from '../../src/evidence/reading.ts'
import type { Remarks } from '../../src/evidence/remarks.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { exchangeWith } from '../support/exchanges.ts'
import type { Received, SentHeaders } from '../support/request.ts'
import { API_KEY, openService, type TestService } from '../support/service.ts'

/** An exchange, and the problem because of which the service refused the request. */
export interface Recorded {
  reading: Reading
  problems: readonly Problem<string>[]
}

export interface RecordedService extends TestService {
  /** Everything that `send` and `get` have exchanged. */
  recorded: readonly Recorded[]
}

/** A stand-in that follows a contract, whose exchanges are read by another one; whoever opens it stops it. */
export async function openRecorded(
  contract: Contract,
  readBy: Contract,
  options: ServerOptions = {},
): Promise<RecordedService> {
  let problems: readonly Problem<string>[] = []
  const inside = {
    contract,
    open: ({ journal }: { journal: { subscribe(listener: (entry: Recorded) => void): unknown } }) => {
      journal.subscribe((entry) => {
        problems = entry.problems.slice(0, 1)
      })
    },
  }
  const service = await openService(options, OPERATIONS, inside as never)
  const read = createReader(readBy)
  const recorded: Recorded[] = []

  async function send(method: string, path: string, body?: unknown, headers: SentHeaders = {}): Promise<Received> {
    problems = []
    const { authorization = `Bearer ${API_KEY}`, ...others } = lowerCase(headers)
    const exchange = await exchangeWith(service.baseUrl, { method, path, body, headers: others, authorization })
    const reading = read(exchange)
    if (reading?.response.body.isKnown !== true) throw new Error(`${method} ${path} has no response.`)
    recorded.push({ reading, problems })
    const { status, headers: fields } = reading.response
    const text = reading.response.body.bytes.toString()
    return { status, headers: { ...fields }, text, body: text === '' ? undefined : JSON.parse(text) }
  }

  return { ...service, recorded, send, get: (path) => send('GET', path) }
}

function lowerCase(headers: SentHeaders): SentHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** What every service is asked: one request or more to each operation, and each kind of refusal that is cheap to get. */
export async function askEverything(service: TestService): Promise<void> {
  const { send } = service
  const name = 'Shop'
  await send(
    'POST',
    '/domains',
    { domains: ['one.example', 'two.example', 'three.example'] },
    { origin: 'http://a.example' },
  )
  await send('POST', '/domains', { domains: ['one.example'] })
  await send('POST', '/domains', { domains: ['no host'] })
  await send('POST', '/domains', { domains: 5, more: 1 })
  await send('POST', '/domains', '{', { 'x-request-id': 'mine-1' })
  await send('POST', '/domains', {}, { 'content-type': 'text/plain' })
  await send('POST', '/domains', '', { 'content-encoding': 'gzip' })
  await send('POST', '/domains', { domains: Array.from({ length: 51 }, (_, index) => `d${index}.example`) })
  await send('GET', '/domains', undefined, { 'x-request-id': 'mine-2', origin: 'http://a.example' })
  await send('GET', '/domains', undefined, { authorization: null })
  await send('GET', '/domains', undefined, { authorization: 'Bearer wrong' })
  await send('PUT', '/domains', {})
  await send('PUT', '/domains', {}, { authorization: null })
  await send('OPTIONS', '/domains', undefined, { origin: 'http://a.example', 'access-control-request-method': 'GET' })
  await send('HEAD', '/domains')
  await send('GET', '/nowhere')
  await send('GET', '/Domains/')
  await send('GET', '/dmarc')
  const created = await send('POST', '/domaingroups', { name, domains: ['one.example'] })
  await send('POST', '/domaingroups', { name })
  await send('POST', '/domaingroups', { name: '' })
  await send('POST', '/domaingroups', { name: 'other', domains: ['foreign.example'] })
  const id = created.body.data?.group.id ?? 'none'
  await send('GET', '/domaingroups?page=2')
  await send('GET', `/domaingroups?id=${id}`)
  await send('GET', '/domaingroups?id=unknown')
  await send('PATCH', `/domaingroups?id=${id}`, { add_domains: ['two.example'], remove_domains: ['zero'] })
  await send('PATCH', `/domaingroups?id=${id}`, {})
  await send('PATCH', `/domaingroups?id=${id}`, { domains: [], add_domains: [] })
  await send('PATCH', '/domaingroups', { name: 'x' })
  await send('DELETE', `/domaingroups?id=${id}`)
  await send('DELETE', '/domaingroups?id=')
  await send('DELETE', '/domains', { domains: ['one.example'] })
  await send('DELETE', '/domains', { domains: ['foreign.example'] })
  for (let count = 0; count < 11; count++) await send('GET', '/dmarc')
}

export interface Judgement {
  findings: Finding[]
  observations: Observation[]
}

/** Everything that is found without knowledge of the account, without what the requests did wrong. */
export function judge(recorded: readonly Recorded[], permitted: Permitted): Judgement {
  const findings: Finding[] = []
  const observations: Observation[] = []
  const quotas = new Map<string, QuotaTrack>()
  const figures = new FigureTrack(permitted)
  const note = (remarks: Remarks) => {
    findings.push(...remarks.findings)
    observations.push(...remarks.observations)
  }
  for (const { reading, problems } of recorded) {
    const found = findContractProblems(reading, permitted)
    findings.push(...found.filter(({ id }) => !id.includes('/request/')))
    note(observePresentation(reading, { problems }, permitted))
    const key = JSON.stringify(reading.exchange.request.credentials)
    const track = quotas.get(key) ?? new QuotaTrack(permitted)
    quotas.set(key, track)
    note(track.take(reading))
    note(figures.take(reading))
  }
  return { findings, observations }
}

/** Observations that do not allow what is true; an assumption that `truth` does not name is as chosen. */
export function wrongOnes({ observations }: Judgement, truth: Assignment): Observation[] {
  return observations.filter(
    ({ allows }) => !allows.some((each) => Object.entries(each).every(([id, number]) => (truth[id] ?? 0) === number)),
  )
}

/** The numbers of an assumption that the observations leave when everything else is as it truly is. */
export function leftOf(id: string, { observations }: Judgement, truth: Assignment, permitted: Permitted): number[] {
  return permitted
    .numbersOf(id)
    .filter(
      (number) =>
        wrongOnes(
          { findings: [], observations: observations.filter(({ allows: [first = {}] }) => id in first) },
          { ...truth, [id]: number },
        ).length === 0,
    )
}
