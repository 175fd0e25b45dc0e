import { stripVTControlCharacters } from 'node:util'
import { shorten } from '../ground/show.ts'

/** The most names in the list. */
const LISTED = 10
/** The most characters of a name. */
const LONGEST = 200

/** The lines with which common test runners report a failed test. Each has the name of the test. */
const LINES: readonly RegExp[] = [
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

/**
 * The unique names of the failed tests in the output of a command. It reads JUnit XML and the output of pytest, go
 * test, vitest, jest, node:test and others. The list is empty if the format is unknown.
 */
export function findFailedTests(output: string): string[] {
  const text = stripVTControlCharacters(output)
  const names = new Set<string>()
  for (const [, attributes = ''] of text.matchAll(TEST_CASE)) {
    const parts = ['classname', 'name'].map((name) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1])
    names.add(parts.filter((part) => part).join(' '))
  }
  for (const line of text.split('\n')) {
    const [name] = LINES.flatMap((pattern) => pattern.exec(line.trimEnd())?.[1] ?? [])
    if (name !== undefined) names.add(name)
  }
  return [...names].slice(0, LISTED).map((name) => shorten(name, LONGEST))
}
