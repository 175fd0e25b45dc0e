import type { Check, Finding, Report, ReportRule, Surroundings } from '../../src/reports/report.ts'

/** The place of POST /domains in openapi.yaml. */
export const ADD_DOMAINS = '/paths/~1domains/post'

const UNKNOWN_FIELD: ReportRule = {
  id: 'violation/unknown_field',
  name: 'A field that the contract does not know',
  description: 'The body holds only fields that the contract lists. The service refuses any other.',
}

/** A finding as `run` makes one; a test overrides what it is about. */
export function finding(overrides: Partial<Finding> = {}): Finding {
  return {
    rule: UNKNOWN_FIELD,
    level: 'error',
    message: 'The body has the field "domain", which the contract does not know.',
    pointer: ADD_DOMAINS,
    request: {
      method: 'POST',
      path: '/domains',
      requestId: '4be0643f-1d98-573b-97cd-ca98a65347dd',
      account: 'default',
      operation: 'addDomains',
      status: 400,
      code: 'unknown_field',
      body: '{"domain":"example.com"}',
    },
    details: [
      { kind: 'text', text: 'The specification names one field.' },
      { kind: 'comparison', expected: '{"domains":["example.com"]}', received: '{"domain":"example.com"}' },
    ],
    remedy: {
      text: 'Send the list of domains as "domains".',
      command: `curl -X POST http://127.0.0.1:4010/api/v1/domains --data-raw '{"domains":["example.com"]}'`,
    },
    ...overrides,
  }
}

export function check(overrides: Partial<Check> = {}): Check {
  return { id: 'operation/listDomains', group: 'operations', name: 'listDomains', outcome: 'passed', ...overrides }
}

const COVERAGE = {
  kind: 'table',
  columns: ['Operation', 'Responses seen'],
  rows: [
    ['listDomains', '1 of 4'],
    ['addDomains', '2 of 9'],
  ],
} as const

/** A report of a run that has one finding; a test overrides what it is about. */
export function report(overrides: Partial<Report> = {}): Report {
  const findings = overrides.findings ?? [finding()]
  const passed = findings.length === 0
  return {
    tool: 'run',
    title: 'npm test',
    summary: passed ? 'No request violates the contract, of 12.' : '1 request violates the contract, of 12.',
    passed,
    exitCode: passed ? 0 : 1,
    startedAt: '2026-01-15T09:00:00.000Z',
    seconds: 3.25,
    command: ['npm', 'test'],
    facts: [
      { name: 'Requests', value: '12' },
      { name: 'Coverage', value: '64 % of the responses' },
    ],
    findings,
    checks: [
      check(),
      check({ id: 'operation/addDomains', name: 'addDomains', outcome: passed ? 'passed' : 'failed', findings }),
      check({ id: 'operation/listDmarc', name: 'listDmarc', outcome: 'skipped', message: 'It was never called.' }),
    ],
    sections: [{ title: 'Coverage', blocks: [COVERAGE] }],
    json: { command: ['npm', 'test'], exit_code: passed ? 0 : 1 },
    ...overrides,
  }
}

/** A report in which every text is the given one, with a check of every outcome and a detail of every kind. */
export function reportOf(text: string): Report {
  const one = finding({
    rule: { id: text, name: text, description: text },
    message: text,
    request: { method: text, path: text, requestId: text, account: text, operation: text, code: text, body: text },
    details: [
      { kind: 'text', text },
      { kind: 'list', items: [text] },
      { kind: 'code', title: text, text },
      { kind: 'comparison', expected: text, received: text, titles: [text, text] },
      { kind: 'table', columns: [text], rows: [[text]] },
    ],
    remedy: { text, command: text },
  })
  const outcomes = ['passed', 'failed', 'error', 'skipped'] as const
  return report({
    title: text,
    summary: text,
    facts: [{ name: text, value: text }],
    findings: [one, { ...one, level: 'note', details: [] }],
    checks: outcomes.map((outcome) => ({
      id: outcome,
      group: text,
      name: text,
      outcome,
      message: text,
      findings: [one],
    })),
    sections: [{ title: text, blocks: one.details ?? [] }],
  })
}

/** A document in which each pointer is at line 7, but for the whole at line 1. */
export const SURROUNDINGS: Surroundings = { version: '1.2.3', lineOf: (pointer) => (pointer === '' ? 1 : 7) }
