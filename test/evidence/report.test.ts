import { describe, expect, it } from 'vitest'
import { applyBaseline } from '../../src/evidence/baseline.ts'
import { describeFindings, type EvidenceReport, type EvidenceReportOptions } from '../../src/evidence/report.ts'
import type { Exchange } from '../../src/exchanges/exchange.ts'
import { createReader } from '../../src/exchanges/reading.ts'
import { AnswerCounts } from '../../src/judge/answer-counts.ts'
import type { KeptFinding, Label } from '../../src/judge/finding.ts'
import { type Conclusion, Judge } from '../../src/judge/judge.ts'
import { failure, exchangeOf as usualExchange } from '../exchanges/made-exchange.ts'
import { choices } from '../support/choices.ts'

function findingOf(label: Label, what = 'data', more: Partial<KeptFinding> = {}): KeptFinding {
  const id = `${label.replaceAll(' ', '-')}/listDomains/200/${what}`
  const place = { request_id: 'one', method: 'GET', path: '/domains', status: 200 }
  return { id, label, ...place, message: 'It is other than it should be.', count: 1, ...more }
}

function exchangeOf({ status = 200, method = 'GET', isKnown = true, code = '' } = {}): Exchange {
  const body = code === '' ? '{}' : failure(code)
  const { response, ...exchange } = usualExchange({ method, path: '/domains', status, body })
  if (status === 0) return { ...exchange, response: undefined }
  if (isKnown || response === undefined) return { ...exchange, response }
  return { ...exchange, response: { ...response, body: { isKnown, reason: 'The recording does not have it.' } } }
}

const read = createReader(choices.contract)

function usualAnswers(): AnswerCounts {
  const answers = new AnswerCounts()
  answers.note(read(exchangeOf()))
  return answers
}

const NO_BASELINE = applyBaseline([], () => true, { findings: [] }, '2026-01-15')

function describeConclusion(findings: readonly KeptFinding[], more: Partial<EvidenceReportOptions & Conclusion> = {}) {
  const { exchanges = 10, judged = 8, observations = [], answers = usualAnswers(), ...rest } = more
  const report = describeFindings({
    tool: 'check',
    title: 'a.har',
    conclusion: { exchanges, judged, findings, observations, messages: {}, answers },
    choices,
    failOn: 'service',
    baseline: NO_BASELINE,
    startedAt: '2026-01-15T09:00:00Z',
    seconds: 1,
    ...rest,
  })
  return { ...report, json: report.json as EvidenceReport }
}

describe('The report of exchanges', () => {
  it.each<[label: Label, exitCode: number, rule: [id: string, name: string], what?: string]>([
    ['contract violation', 1, ['contract-violation/response', 'The service violates the contract']],
    ['contract violation', 0, ['contract-violation/request', 'The client violates the contract'], 'request/body'],
    ['broken rule', 1, ['broken-rule', 'The service breaks a rule of the specification'], 'request'],
    ['unexplained', 1, ['unexplained', 'The behaviour of the service is unexplained']],
    ['cannot tell', 0, ['cannot-tell', 'It cannot be decided']],
    ['another choice', 0, ['another-choice', 'The service makes a choice of its own']],
    ['decides assumption', 0, ['decides-assumption', 'The service chooses another alternative']],
  ])('ends with a finding `%s` with %i', (label, exitCode, [id, name], what) => {
    const report = describeConclusion([findingOf(label, what)])
    const level = exitCode === 1 ? 'error' : label === 'contract violation' ? 'warning' : 'note'
    expect(report).toMatchObject({ exitCode, passed: exitCode === 0, findings: [{ level, rule: { id, name } }] })
  })

  it('says of each difference who made it and how often it was seen, and counts the two sides apart', () => {
    const one = findingOf('contract violation', 'response/data', { pointer: '/paths/~1domains', count: 12 })
    const findings = [one, findingOf('contract violation', 'request/body'), findingOf('unexplained')]
    const { json, findings: shown, summary } = describeConclusion(findings)
    expect(json.findings[0]).toEqual({ ...one, by: 'service' })
    expect(json.findings.map(({ by }) => by)).toEqual(['service', 'client', 'service'])
    expect(shown[0]).toMatchObject({ occurrences: 12, request: { requestId: 'one' } })
    expect(summary).toBe(
      'In the 8 of 10 exchanges that could be judged, the service did 2 things wrong, seen 13 times; its clients did 1 thing wrong, seen once (--fail-on client would fail).',
    )
  })

  it('warns of the mistakes of those who do not fail the run', () => {
    const findings = [findingOf('contract violation', 'request/body'), findingOf('contract violation', 'response/body')]
    const levelsWith = (failOn: 'service' | 'client' | 'both') =>
      describeConclusion(findings, { failOn }).findings.map(({ level }) => level)
    expect(levelsWith('service')).toEqual(['warning', 'error'])
    expect(levelsWith('client')).toEqual(['error', 'warning'])
    expect(levelsWith('both')).toEqual(['error', 'error'])
  })

  it('counts the verdicts about choices, and warns of those that contradict each other', () => {
    const see = (id: string, permits: number[]) => ({ id, permits, evidence: [`r-${id}-${permits}`], count: 1 })
    const observations = [see('domain-order', [0]), see('domain-order', [1]), see('create-group-status', [1])]
    const { facts, findings, json } = describeConclusion([], { observations })
    const undecided = choices.ids.length - 2
    const value = `0 as chosen, 1 alternative, 1 contradicted, ${undecided} undecided`
    expect(facts).toContainEqual({ name: 'Assumptions', value })
    expect(findings).toMatchObject([{ level: 'warning', rule: { id: 'domain-order' } }])
    expect(json.assumptions).toHaveLength(choices.ids.length)
  })

  it('counts what cannot be told by its reason, and says what would let it be told', () => {
    const answers = new AnswerCounts()
    answers.note(read(exchangeOf({ isKnown: false })))
    const seen = [...Array<string>(18).fill('changed'), 'overlap', 'overlap'].map((what) =>
      findingOf('cannot tell', what),
    )
    for (const finding of [...seen, findingOf('unexplained')]) answers.noteFinding(finding)
    const { json, summary, facts, passed } = describeConclusion([], { answers })
    expect(passed).toBe(true)
    expect(json.untold).toEqual([
      {
        reason: 'Another client may have changed the account.',
        times: 18,
        remedy: 'Give --sole-writer if no other client did.',
      },
      expect.objectContaining({ times: 2, remedy: 'Send such requests one after the other.' }),
      expect.objectContaining({ reason: 'The recording does not have it.', times: 1 }),
    ])
    expect(summary).toMatch(
      / 21 things cannot be told, most often because: Another client may have changed .* --sole-writer if/,
    )
    expect(facts).toContainEqual({ name: 'Cannot tell', value: expect.stringMatching(/^18: Another .* 2: .* 1: /) })
  })

  it('says once why nothing could be judged, and also where something else failed', () => {
    const answers = new AnswerCounts()
    answers.note(read(exchangeOf({ isKnown: false })))
    const nothing = { exchanges: 1, judged: 0, answers }
    for (const failures of [[], ['The file breaks off.']]) {
      const { summary } = describeConclusion([], { ...nothing, failures })
      expect(summary.match(/The recording does not have it\./g)).toHaveLength(1)
    }
  })

  it.each([
    [0, 'were'],
    [1, 'was'],
    [2, 'were'],
  ])('says that %i of its exchanges %s judged', (judged, verb) => {
    const value = `3, of which ${judged} ${verb} judged`
    expect(describeConclusion([], { exchanges: 3, judged }).facts).toContainEqual({ name: 'Exchanges', value })
  })

  it('says which operations did not answer', () => {
    const others = choices.contract.operations.map(({ id }) => id).filter((id) => id !== 'listDomains')
    const value = `${others.join(', ')}; a longer recording, or verify, shows them`
    expect(describeConclusion([]).facts).toContainEqual({ name: 'Not asked', value })
  })

  it('shows of each finding what was asked, what came and what to do', () => {
    const quoted = { asked: '{"name":"a"}', answered: '{"success":true}', overlay: 'status 202' }
    const { findings } = describeConclusion([findingOf('another choice', 'status', quoted)])
    expect(findings).toMatchObject([
      {
        message: `It is other than it should be. Sent: ${quoted.asked} Came: ${quoted.answered}`,
        request: { method: 'GET', path: '/domains', status: 200, body: quoted.asked },
        details: [{ text: expect.stringContaining('another-choice/') }, { text: quoted.answered }],
        remedy: { text: expect.stringMatching(/write an overlay .* It would have to say: status 202$/) },
      },
    ])
  })

  it('does not count what the baseline accepts, and tells what is gone', () => {
    const findings = [findingOf('broken rule')]
    const accepted = { id: 'broken-rule/listDomains/200/data', reason: 'It is old.' }
    const gone = { id: 'broken-rule/listDomains/200/x', reason: 'y' }
    const baseline = applyBaseline(findings, () => true, { findings: [accepted, gone] }, '2026-01-15')
    const { json, exitCode, facts, findings: shown } = describeConclusion(findings, { baseline })
    expect(exitCode).toBe(0)
    expect(json.findings).toMatchObject([{ accepted: 'It is old.' }])
    expect(shown).toMatchObject([{ level: 'note' }])
    expect(facts).toContainEqual({ name: 'Baseline', value: '1 of its findings is gone; --update-baseline removes it' })
  })
})

describe('The answers of a service', () => {
  it.each<[what: string, exchange: Parameters<typeof exchangeOf>[0], reason: string | undefined]>([
    ['a success', {}, undefined],
    ['no response', { status: 0 }, 'No response was recorded, or none with header fields.'],
    ['a failure', { status: 500 }, 'The service failed with 500.'],
    ['a page of a gateway', { status: 503 }, 'A gateway answered in place of the service.'],
    ['rate_limited with any status', { status: 503, code: 'rate_limited' }, 'The quota was used up.'],
    ['a body that is missing', { isKnown: false }, 'The recording does not have it.'],
  ])('say of %s why it cannot be judged', (_, exchange, reason) => {
    const judge = new Judge({ choices })
    judge.take(exchangeOf(exchange))
    expect(judge.answers.untold).toEqual(reason === undefined ? [] : [{ reason, times: 1, remedy: expect.any(String) }])
  })
})
