import { createHash } from 'node:crypto'
import type { Location, Log, ReportingDescriptor, Result } from 'sarif'
import type { Finding, Report, Rule, Surroundings, Write } from './report.ts'
import { CONTRACT_FILE, describeFinding } from './wording.ts'

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json'
/** How readers call the top folder of the repository. */
const ROOT = '%SRCROOT%'
/** Code scanning refuses a longer name, and cuts a longer description. */
export const LONGEST_NAME = 255
export const LONGEST_DESCRIPTION = 1024

/**
 * The report as SARIF 2.1.0, with what code scanning asks for: each result has a place, which is a line of openapi.yaml,
 * its rule has a help, and its fingerprint is the same in every run, so that an alert is not opened twice.
 */
export const writeSarifReport: Write = (report, surroundings) => {
  const rules = [...new Map(report.findings.map(({ rule, level }) => [rule.id, { rule, level }])).values()]
  const indexes = new Map(rules.map(({ rule }, index) => [rule.id, index]))
  const fingerprint = fingerprinter()
  const log: Log = {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'dmarc-understudy',
            version: surroundings.version,
            semanticVersion: surroundings.version,
            rules: rules.map(({ rule, level }) => describeRule(rule, level)),
          },
        },
        automationDetails: { id: `dmarc-understudy/${report.tool}/` },
        invocations: [describeInvocation(report)],
        artifacts: [
          {
            location: { uri: CONTRACT_FILE, uriBaseId: ROOT },
            description: { text: 'The contract of the service, which comes with dmarc-understudy.' },
          },
        ],
        columnKind: 'utf16CodeUnits',
        results: report.findings.map((finding) => ({
          ...describeResult(finding, surroundings),
          ruleIndex: indexes.get(finding.rule.id) ?? -1,
          partialFingerprints: { primaryLocationLineHash: fingerprint(finding) },
        })),
        properties: { facts: Object.fromEntries(report.facts.map(({ name, value }) => [name, value])) },
      },
    ],
  }
  return `${JSON.stringify(log, undefined, 2)}\n`
}

function describeRule({ id, name, description }: Rule, level: Finding['level']): ReportingDescriptor {
  return {
    id,
    name: name.slice(0, LONGEST_NAME),
    shortDescription: { text: name.slice(0, LONGEST_DESCRIPTION) },
    fullDescription: { text: description.slice(0, LONGEST_DESCRIPTION) },
    help: { text: description },
    defaultConfiguration: { level },
    properties: { tags: ['api-contract'] },
  }
}

/** The tool itself did what it should, whatever it has found. */
function describeInvocation({
  exitCode,
  startedAt,
  seconds,
  summary,
  passed,
}: Report): NonNullable<Log['runs'][number]['invocations']>[number] {
  const endedAt = startedAt && new Date(Date.parse(startedAt) + seconds * 1000).toISOString()
  return {
    executionSuccessful: true,
    exitCode,
    ...(startedAt !== undefined && { startTimeUtc: startedAt, endTimeUtc: endedAt }),
    toolExecutionNotifications: [{ level: passed ? 'note' : 'error', message: { text: summary } }],
  }
}

function describeResult(finding: Finding, surroundings: Surroundings): Result {
  const { rule, level, request, occurrences } = finding
  return {
    ruleId: rule.id,
    level,
    message: { text: describeFinding(finding, surroundings.lineOf) },
    locations: [describeLocation(finding, surroundings)],
    ...(occurrences !== undefined && { occurrenceCount: occurrences }),
    ...(request !== undefined && { properties: { request: { ...request } } }),
  }
}

/** A result without a place is refused, so one that has none is at the top of the document. */
function describeLocation({ pointer = '' }: Finding, { lineOf }: Surroundings): Location {
  return {
    physicalLocation: {
      artifactLocation: { uri: CONTRACT_FILE, uriBaseId: ROOT, index: 0 },
      region: { startLine: lineOf(pointer) },
    },
    ...(pointer !== '' && { logicalLocations: [{ fullyQualifiedName: pointer, kind: 'member' }] }),
  }
}

/**
 * The same text for the same finding in every run: rule, place, and the request without what is new in each run. The
 * number behind it tells several of one run apart.
 */
function fingerprinter(): (finding: Finding) => string {
  const seen = new Map<string, number>()
  return ({ rule, pointer, request }) => {
    const path = request?.path.replace(/\?.*/s, '')
    const hash = createHash('sha256').update(JSON.stringify([rule.id, pointer, request?.method, path]))
    const text = hash.digest('hex').slice(0, 16)
    const count = (seen.get(text) ?? 0) + 1
    seen.set(text, count)
    return `${text}:${count}`
  }
}
