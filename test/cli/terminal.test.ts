import { WriteStream } from 'node:tty'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { prettify } from '../../src/cli/log.ts'
import { Progress } from '../../src/cli/progress.ts'
import { openScreen } from '../../src/cli/terminal.ts'
import { replaceTime } from '../support/replaced-time.ts'

describe('the screen of standard error', () => {
  const SIZE = { columns: 120, rows: 40 }
  /** A terminal that asks the environment about colours, as those of Node.js do. */
  function terminal(size: { columns: number; rows: number }): NodeJS.WriteStream {
    const { hasColors, getColorDepth } = WriteStream.prototype
    return { isTTY: true, ...size, hasColors, getColorDepth } as unknown as NodeJS.WriteStream
  }

  beforeEach(() => {
    const decisive = ['NO_COLOR', 'NODE_DISABLE_COLORS', 'FORCE_COLOR', 'COLORTERM', 'CI', 'TMUX', 'TERM_PROGRAM']
    for (const name of decisive) vi.stubEnv(name, undefined)
    vi.stubEnv('TERM', 'xterm-256color')
  })
  afterEach(() => void vi.unstubAllEnvs())

  it.each<[what: string, variable: [string, string], stream: NodeJS.WriteStream, screen: object]>([
    ['a file', ['FORCE_COLOR', '1'], { isTTY: false } as NodeJS.WriteStream, { columns: undefined, colours: false }],
    ['a terminal', ['A', 'b'], terminal(SIZE), { columns: 120, colours: true }],
    ['a terminal', ['NO_COLOR', '1'], terminal(SIZE), { columns: 120, colours: false }],
    ['a terminal', ['TERM', 'dumb'], terminal(SIZE), { columns: 120, colours: false }],
    ['a terminal of no size', ['A', 'b'], terminal({ columns: 0, rows: 0 }), { columns: 80 }],
  ])('of %s with %j', (_, [name, value], stream, screen) => {
    vi.stubEnv(name, value)
    expect(openScreen(stream)).toMatchObject(screen)
  })
})

describe('progress', () => {
  /** A progress on a screen of so many columns, or elsewhere, with a clock of its own. */
  function openProgress(columns?: number) {
    replaceTime()
    const written: string[] = []
    const screen = { columns, colours: false }
    const writeError = (text: string) => void written.push(text)
    return {
      progress: new Progress({ screen, writeError }),
      written,
      pass: (milliseconds: number) => void vi.advanceTimersByTime(milliseconds),
    }
  }

  it('shows nothing of what ends within a second', () => {
    const { progress, written, pass } = openProgress(80)
    progress.show('trial 1 of 2')
    pass(999)
    progress.end()
    pass(60_000)
    expect(written).toEqual([])
  })

  it('changes one line on a terminal, at most ten times a second', () => {
    const { progress, written, pass } = openProgress(80)
    for (let trial = 1; trial <= 100; trial++) {
      progress.show(`trial ${trial}`)
      pass(20)
    }
    expect(written[0]).toBe('\r\u001b[Ktrial 50')
    expect(written.length).toBeGreaterThan(5)
    expect(written.length).toBeLessThanOrEqual(11)
    pass(100)
    expect(written.at(-1)).toBe('\r\u001b[Ktrial 100')
    progress.end()
    expect(written.at(-1)).toBe('\r\u001b[K')
  })

  it('is cut at the width of the terminal, and cannot break out of its line', () => {
    const { progress, written, pass } = openProgress(20)
    progress.show(`trial\n\u001b[31m ${'x'.repeat(100)}`)
    pass(1000)
    expect(written).toEqual(['\r\u001b[Ktrial\\u000a\\u001b[…'])
  })

  it('prints a line elsewhere after a second, and then one every ten seconds', () => {
    const { progress, written, pass } = openProgress()
    for (let second = 0; second < 25; second++) {
      progress.show(`trial ${second}`)
      pass(1000)
    }
    expect(written).toEqual(['trial 0\n', 'trial 10\n', 'trial 20\n'])
  })
})

describe('a pretty log', () => {
  const got = (path: string) => ({ level: 30, msg: 'request', method: 'GET', path, ms: 1 })
  it.each<[line: object, text: string]>([
    [{ ...got('/domains'), status: 200, account: 'default', ms: 0.4 }, 'GET /domains → 200 (default, 0.4 ms)'],
    [{ ...got('/x\u009b31m'), status: 404, code: 'not_found' }, 'GET /x\\u009b31m → 404 not_found (1 ms)'],
    [{ ...got('/dmarc'), account: 'a', fault: 'f-1' }, 'GET /dmarc → no response (a, fault f-1, 1 ms)'],
    [{ ...got('/x'), status: 404, page: 'http://a/requests/1' }, 'GET /x → 404 (1 ms) http://a/requests/1'],
    [{ level: 40, reason: 'broken', msg: 'It is left out.' }, 'warning: It is left out. {"reason":"broken"}'],
    [
      { level: 50, err: { message: 'x', stack: 'Error: x\u001b[2J\n    at y' }, msg: 'The request failed.' },
      'error: The request failed.\nError: x\\u001b[2J\n    at y',
    ],
  ])('%j', (line, text) => {
    const logged = JSON.stringify({ time: '2026-01-15T09:30:01.000Z', ...line })
    expect(prettify(logged, false)).toBe(`09:30:01 ${text}\n`)
    expect(prettify(logged, true)).toContain('\u001b[')
  })
})
