import { stripVTControlCharacters } from 'node:util'
import { printable, shorten } from '../ground/show.ts'
import type { Redact } from '../journal/redaction/redaction.ts'
import type { CommandEnd } from './command.ts'

const LINES = 20
const CHARACTERS = 2_000
/** What runners of tests write beside what failed: tests that passed, and numbers. */
const BESIDE = /^\s*(?:TAP version \d+|1\.\.\d+|ok \d+\b.*|[✔✓] .*|# Subtest: .*|duration_ms: .*|(?:#|ℹ) \w+ [\d.]+)$/

/**
 * The part of an output that says what failed, for a report: from the first failed test on, or else its end. It has no
 * colours and no secrets. No secret is cut before it is hidden.
 */
export function tellingLines(output: string, redact: Redact): string {
  const lines = redact(summaryOf(output).trimEnd())
    .split('\n')
    .filter((line) => !BESIDE.test(line))
  const failed = lines.findIndex((_, index) => failedTestIn(lines, index) !== undefined)
  const shown = failed < 0 ? lines.slice(-LINES) : lines.slice(failed, failed + LINES)
  const text = shown.join('\n')
  return failed < 0 ? text.slice(-CHARACTERS) : text.slice(0, CHARACTERS)
}

const LISTED = 10
const LONGEST = 200

/** The lines with which common test runners report a failed test. Each has the name of the test. */
const FAILED: readonly RegExp[] = [
  // TAP, including node:test: `not ok 3 - creates a group`
  /^\s*not ok \d+\s*(?:-\s*)?(?!.*# (?:TODO|SKIP))(.+?)\s*$/i,
  // pytest: `FAILED test_group.py::test_creates_a_group - AssertionError`
  /^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$/,
  // go test: `--- FAIL: TestCreatesAGroup (0.01s)`
  /^\s*--- FAIL: (\S+)/,
  // vitest: ` FAIL  test/group.test.ts > groups > creates a group`
  /^\s*FAIL\s+(?:\|?\S+\|\s+)?(\S+ > .+?)\s*$/,
  // jest: `  ● groups › creates a group`
  /^\s*● (.+ › .+?)\s*$/,
  // The reporter `spec` of node:test: `✖ creates a group (1.5ms)`
  /^\s*[✖✗×] (?!failing tests)(.+?)(?: \(\d[\d.]*m?s\)| \d+ms)?\s*$/,
  // JUnit by Maven: `[ERROR] shop.GroupTest.createsAGroup -- Time elapsed: 0.01 s <<< FAILURE!`
  /^\[ERROR\]\s+([\w.$]+(?:\([\w.$]+\))?)\s.*<<< (?:FAILURE|ERROR)!/,
  // unittest of Python: `FAIL: test_creates_a_group (test_group.GroupTest)`
  /^(?:FAIL|ERROR): (\w+ \([\w.]+\))/,
  // cargo test: `test creates_a_group ... FAILED`
  /^test (\S+) \.\.\. FAILED$/,
]
/** JUnit XML, which some programs write to standard output. */
const TEST_CASE = /<testcase\b([^>]*[^/>])>\s*<(?:failure|error)\b/g

/** The line before the failed tests in the summary of the reporter `spec` of node:test. */
const SUMMARY = '✖ failing tests:\n'
/** How node:test says in TAP that a test failed only because of its parts, which are failed tests themselves. */
const BY_PARTS = "failureType: 'subtestsFailed'"

/**
 * The names of the failed tests in the output of a command, each once. It reads JUnit XML and the output of pytest, go
 * test, vitest, jest, node:test and others. The list is empty if the format is unknown.
 */
export function findFailedTests(output: string): string[] {
  const text = summaryOf(output)
  const names = new Set<string>()
  for (const [, attributes = ''] of text.matchAll(TEST_CASE)) {
    const parts = ['classname', 'name'].map((name) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1])
    names.add(parts.filter((part) => part).join(' '))
  }
  const lines = text.split('\n')
  for (const index of lines.keys()) {
    const name = failedTestIn(lines, index)
    if (name !== undefined) names.add(name)
  }
  // A runner may report a test by its name, and in a summary by its path, which ends with the name.
  const isNamedLonger = (name: string) =>
    [...names].some((other) => PATH_SIGNS.some((sign) => other.endsWith(`${sign}${name}`)))
  return [...names]
    .filter((name) => !isNamedLonger(name))
    .slice(0, LISTED)
    .map((name) => shorten(name, LONGEST))
}

/** The output without colours, from its summary of failed tests on, if it has one. */
function summaryOf(output: string): string {
  const text = stripVTControlCharacters(output)
  return text.slice(text.includes(SUMMARY) ? text.lastIndexOf(SUMMARY) + SUMMARY.length : 0)
}

/** The name of the test of which this line says that it failed. */
function failedTestIn(lines: readonly string[], index: number): string | undefined {
  const [name] = FAILED.flatMap((pattern) => pattern.exec(lines[index]?.trimEnd() ?? '')?.[1] ?? [])
  return name === undefined || failedByParts(lines, index) ? undefined : name
}

/** Whether the diagnosis below a line of TAP says so. */
function failedByParts(lines: readonly string[], index: number): boolean {
  if (lines[index + 1]?.trim() !== '---') return false
  const end = lines.findIndex((line, at) => at > index && line.trim() === '...')
  return lines.slice(index, end).some((line) => line.trim() === BY_PARTS)
}

/** What separates the name of a test from those of its file and its groups. */
const PATH_SIGNS = [' > ', ' › ', '::', '/'] as const
const LOOKED_AT = 20

/** How a command failed that must not, as the rest of a sentence: the failed tests, or what it said last. */
export function describeFailure({ timedOut, seconds, exitCode, signal, output }: CommandEnd, redact: Redact): string {
  if (timedOut) return `it did not end within ${seconds.toFixed(1)} s (--timeout)`
  const how = signal === undefined ? `it ended with ${exitCode}` : `it ended by ${signal}`
  const tests = findFailedTests(output)
  if (tests.length > 0) return `${how}, and failed: ${tests.map((name) => redact(printable(name))).join(', ')}`
  const said = lastWords(output)
  return said === '' ? `${how}, and said nothing` : `${how}, and said: ${redact(said)}`
}

/** The most informative line of the output: the last one that mentions an error, or else the last one. */
function lastWords(output: string): string {
  const lines = stripVTControlCharacters(output).trimEnd().split('\n').slice(-LOOKED_AT)
  const telling = lines.filter((line) => line.trim() !== '' && !BESIDE.test(line.trimEnd()))
  const line = telling.findLast((each) => /error|fail/i.test(each)) ?? telling.at(-1) ?? ''
  return printable(shorten(line.trim(), LONGEST))
}
