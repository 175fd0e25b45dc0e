import { describe, expect, it } from 'vitest'
import { describeFailure, findFailedTests, tellingLines } from '../../src/trials/output.ts'

describe('the tests that failed are found in what is written by', () => {
  it.each([
    [
      'TAP',
      'TAP version 13\nok 1 - lists\nnot ok 2 - creates a group\nnot ok 3 - later # TODO not yet\n1..3',
      ['creates a group'],
    ],
    [
      'pytest',
      '=== short test summary info ===\nFAILED test_group.py::test_creates[a-b] - assert 201 == 200\nERROR test_a.py::test_b\n1 failed',
      ['test_group.py::test_creates[a-b]', 'test_a.py::test_b'],
    ],
    [
      'go test',
      '=== RUN   TestGroups\n    --- FAIL: TestGroups/creates (0.01s)\nFAIL\nFAIL\texample.com/x 0.1s',
      ['TestGroups/creates'],
    ],
    [
      'vitest',
      '   × creates a group 5ms\n\u001b[31m FAIL \u001b[39m test/group.test.ts > groups > creates a group\nAssertionError: expected 201 to be 200',
      ['test/group.test.ts > groups > creates a group'],
    ],
    ['jest', '  ● groups › creates a group\n\n    expect(received)', ['groups › creates a group']],
    [
      'the reporter spec of node:test',
      '▶ groups\n  ✖ creates a group (1.2ms)\n✖ groups (2ms)\n\n✖ failing tests:\n\ntest at a.mjs:1:1\n✖ creates a group (1.2ms)\n',
      ['creates a group'],
    ],
    [
      'the reporter tap of node:test',
      "    not ok 1 - creates a group\n      ---\n      failureType: 'testCodeFailure'\n      ...\nnot ok 1 - groups\n  ---\n  failureType: 'subtestsFailed'\n  ...\n",
      ['creates a group'],
    ],
    [
      'Maven',
      '[ERROR] shop.GroupTest.createsAGroup -- Time elapsed: 0.02 s <<< FAILURE!\n[ERROR] Tests run: 1, Failures: 1',
      ['shop.GroupTest.createsAGroup'],
    ],
    ['unittest', 'FAIL: test_creates (test_group.GroupTest)\n---', ['test_creates (test_group.GroupTest)']],
    ['cargo test', 'test creates_a_group ... FAILED\ntest lists ... ok', ['creates_a_group']],
    [
      'JUnit XML',
      '<testsuite><testcase classname="group" name="creates"><failure/></testcase><testcase name="lists"/></testsuite>',
      ['group creates'],
    ],
    ['nobody that is known', 'Error: 201\n    at main.mjs:1\nThe test FAILED.', []],
  ])('%s', (_, output, names) => expect(findFailedTests(output)).toEqual(names))

  it('names each once, no more than ten, and none at length', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `not ok ${index} - test ${index % 15} ${'x'.repeat(300)}`)
    const names = findFailedTests(lines.join('\n'))
    expect(names).toHaveLength(10)
    expect(new Set(names.map((name) => name.length))).toEqual(new Set([200]))
  })
})

describe('of an output, a report shows', () => {
  const PASSED = Array.from({ length: 30 }, (_, index) => `ok ${index + 2} - lists`).join('\n')
  it.each([
    [
      'the failed test and its reason, without tests that passed and numbers',
      `TAP version 13\nok 1 - x\n# Subtest: y\nnot ok 2 - y\n  ---\n  duration_ms: 2.1\n  error: 'no'\n  ...\n${PASSED}\n1..32\n# tests 32\n# fail 1\n`,
      "not ok 2 - y\n  ---\n  error: 'no'\n  ...",
    ],
    [
      'the summary of the reporter spec',
      '✖ z\nok\n✖ failing tests:\n\n✖ z (1ms)\n  Error: no\n',
      '✖ z (1ms)\n  Error: no',
    ],
    ['the end, where no test failed', `${'a line\n'.repeat(30)}Error: no\n`, `${'a line\n'.repeat(19)}Error: no`],
    ['nothing of numbers alone', 'ok 1 - x\n1..1\n# tests 1\n# pass 1\n', ''],
    ['no more than 2,000 characters', `FAILED a::b\n${'x'.repeat(3_000)}`, `FAILED a::b\n${'x'.repeat(1_988)}`],
  ])('%s', (_, output, shown) => expect(tellingLines(output, (text) => text)).toBe(shown))

  it('no part of a secret', () => {
    const hide = (text: string) => text.replaceAll('s3cret', '[redacted]')
    expect(tellingLines(`s3cret${'x'.repeat(1_997)}`, hide)).toMatch(/^ed\]x+$/)
  })
})

describe('the failure of a command that must not fail tells', () => {
  it.each([
    ['the failed tests', 'not ok 1 - creates a group\n# fail 1\n# duration_ms 259', 'failed: creates a group'],
    ['the last line about an error', 'Error: no luck\nat the end\n# duration_ms 259', 'said: Error: no luck'],
    ['the last line that is no statistic', 'one\ntwo\n# duration_ms 259\n', 'said: two'],
    ['that nothing was said', '\n', 'said nothing'],
  ])('%s', (_, output, words) => {
    const end = { exitCode: 1, signal: undefined, timedOut: false, interruptedBy: undefined, seconds: 1, output }
    expect(describeFailure({ ...end, hasLeftBehind: false }, (text) => text)).toBe(`it ended with 1, and ${words}`)
  })
})
