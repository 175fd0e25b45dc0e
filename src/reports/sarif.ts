import { createHash } from 'node:crypto'
import type { Location, Log, Notification, ReportingDescriptor, Result } from 'sarif'
import { RealDate } from '../ground/timers.ts'
import type { Finding, Report, ReportRule, Surroundings, Write } from './report.ts'
import { CONTRACT_FILE, describeFinding } from './wording.ts'

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json'
/** The name that readers use for the root folder of the repository. */
const ROOT = '%SRCROOT%'
/** Code scanning rejects a longer name, and truncates a longer description. */
const LONGEST_NAME = 255
const LONGEST_DESCRIPTION = 1024

/**
 * The report as SARIF 2.1.0 for code scanning. Each result has a line of openapi.yaml as its place, and each rule has a
 * help text. Fingerprints are the same in every run, so that an alert is not opened twice. Code scanning rejects a
 * result without a place. So a finding without a pointer, such as a failed command, is a notification of the invocation.
 */
export const writeSarifReport: Write = (report, surroundings) => {
  const rules = [...new Map(report.findings.map(({ rule, level }) => [rule.id, { rule, level }])).values()]
  const indexes = new Map(rules.map(({ rule }, index) => [rule.id, index]))
  const fingerprint = fingerprinter()
  const placed = report.findings.filter(({ pointer }) => pointer !== undefined)
  const others = report.findings.filter(({ pointer }) => pointer === undefined)
  const notifications = others.map((finding): Notification => {
    const { rule, level } = finding
    const associatedRule = { id: rule.id, index: indexes.get(rule.id) ?? -1 }
    return { level, associatedRule, message: { text: describeFinding(finding, surroundings.lineOf) } }
  })
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
        invocations: [describeInvocation(report, notifications)],
        artifacts: [
          {
            location: { uri: CONTRACT_FILE, uriBaseId: ROOT },
            description: { text: 'The contract of the service, which comes with dmarc-understudy.' },
          },
        ],
        columnKind: 'utf16CodeUnits',
        results: placed.map((finding) => ({
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

function describeRule({ id, name, description }: ReportRule, level: Finding['level']): ReportingDescriptor {
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

/** The invocation of the tool was successful, even if there are findings. */
function describeInvocation(
  { exitCode, startedAt, seconds, summary, passed }: Report,
  notifications: readonly Notification[],
): NonNullable<Log['runs'][number]['invocations']>[number] {
  const endedAt = startedAt && new RealDate(RealDate.parse(startedAt) + seconds * 1000).toISOString()
  return {
    executionSuccessful: true,
    exitCode,
    ...(startedAt !== undefined && { startTimeUtc: startedAt, endTimeUtc: endedAt }),
    toolExecutionNotifications: [{ level: passed ? 'note' : 'error', message: { text: summary } }, ...notifications],
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
 * Identifies a finding across runs by its rule, its place, and its request without the parts that change with each run.
 * A number distinguishes equal findings of one run.
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
