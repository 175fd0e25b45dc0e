import type { Finding, Report, ReportRule } from '../../src/reports/report.ts'

const UNKNOWN_FIELD: ReportRule = {
  id: 'violation/unknown_field',
  name: 'A field that the contract does not know',
  description: 'The body holds only fields that the contract lists.',
}

/** A finding as `run` makes one; a test overrides what it is about. */
export function finding(overrides: Partial<Finding> = {}): Finding {
  return {
    rule: UNKNOWN_FIELD,
    level: 'error',
    message: 'The body has the field "domain", which the contract does not know.',
    pointer: '/paths/~1domains/post',
    row: 'addDomains',
    request: {
      method: 'POST',
      path: '/domains',
      requestId: '4be0643f-1d98-573b-97cd-ca98a65347dd',
      operation: 'addDomains',
      status: 400,
      code: 'unknown_field',
      body: '{"domain":"example.com"}',
    },
    details: [{ title: 'Response', text: '{"error":{"code":"unknown_field"}}' }],
    remedy: {
      text: 'Send the list of domains as "domains".',
      command: `curl -X POST http://127.0.0.1:4010/api/v1/domains --data-raw '{"domains":["example.com"]}'`,
    },
    ...overrides,
  }
}

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
    facts: [
      { name: 'Requests', value: '12' },
      { name: 'Coverage', value: '64 % of the responses' },
    ],
    findings,
    table: {
      title: 'Coverage',
      columns: ['Operation', 'Responses seen'],
      rows: [
        { outcome: 'passed', cells: ['listDomains', '1 of 4'] },
        { outcome: passed ? 'passed' : 'failed', cells: ['addDomains', '2 of 9'] },
        { outcome: 'skipped', cells: ['listDmarc', '0 of 3'] },
      ],
    },
    json: { command: ['npm', 'test'], exit_code: passed ? 0 : 1 },
    ...overrides,
  }
}

/** A report in which every text is the given one. */
export function reportOf(text: string): Report {
  const one = finding({
    rule: { id: `id ${text}`, name: text, description: text },
    message: text,
    row: undefined,
    request: { method: text, path: text, requestId: text, account: text, operation: text, code: text, body: text },
    details: [{ title: text, text }],
    remedy: { text, command: text },
  })
  const outcomes = ['passed', 'failed', 'skipped'] as const
  return report({
    title: text,
    summary: text,
    facts: [{ name: text, value: text }],
    findings: [one, { ...one, level: 'note', details: [] }],
    table: {
      title: 'Everything',
      columns: [text, text],
      rows: outcomes.map((outcome) => ({ outcome, cells: [`${outcome} ${text}`, text] })),
    },
    json: { said: [text] },
  })
}
