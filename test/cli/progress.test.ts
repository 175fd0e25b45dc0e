import { describe, expect, it, vi } from 'vitest'
import { Progress } from '../../src/cli/progress.ts'
import { describeProgress } from '../../src/cli/verify.ts'
import { replaceTime } from '../support/replaced-time.ts'

/** A progress on a screen of so many columns, or elsewhere, with a clock of its own. */
function openProgress(columns?: number) {
  replaceTime()
  const written: string[] = []
  const screen = { size: columns === undefined ? undefined : { columns, rows: 24 }, colours: false }
  const terminal = {
    screen,
    writeError: (text: string) => void written.push(text),
    printError: (line: string) => void written.push(`${line}\n`),
  }
  let now = 0
  function pass(milliseconds: number): void {
    for (let passed = 0; passed < milliseconds; passed++) {
      now++
      vi.advanceTimersByTime(1)
    }
  }
  return { progress: new Progress(terminal, () => now), written, pass }
}

describe('progress', () => {
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

  it('leaves a line that is printed above that of the progress', () => {
    const { progress, written, pass } = openProgress(80)
    progress.show('trial 1')
    pass(1000)
    progress.print('A finding.')
    pass(100)
    expect(written).toEqual(['\r\u001b[Ktrial 1', '\r\u001b[K', 'A finding.\n', '\r\u001b[Ktrial 1'])
  })
})

describe('the progress of verify', () => {
  const quotaOf = (path: string, left: number, resetsIn: number | undefined) => {
    return { path, left, resetsIn, limit: 100, sent: 0, remaining: left }
  }
  const quotas = [quotaOf('/dmarc', 7, undefined), quotaOf('/domains', 0, 1_140), quotaOf('/domaingroups', 96, 1_200)]
  const asked = { asked: 26, planned: 128, doing: 'name-taken', quotas, toGo: 4_800 }
  const left = 'left: /dmarc 7, /domains 0, /domaingroups 96; reset in 19 min'

  const waiting = { doing: 'waits for the quota of /domains' }
  const unnamed = { quotas: [quotaOf('/dmarc', 10, undefined)] }

  it.each<[what: string, progress: Partial<typeof asked>, waits: boolean, line: string]>([
    ['what is done, what is left, and when the next reset is', {}, false, `26 of 128; ${left}; name-taken`],
    ['how long it takes where it waits', {}, true, `26 of 128, 80 min to go; ${left}; name-taken`],
    ['nothing of that at the end', { toGo: 0 }, true, `26 of 128; ${left}; name-taken`],
    ['first what keeps it from asking', waiting, true, `26 of 128, 80 min to go; ${waiting.doing}; ${left}`],
    ['nothing of a reset that nobody has named', unnamed, false, '26 of 128; left: /dmarc 10; name-taken'],
  ])('says %s', (_, progress, waits, line) => {
    expect(describeProgress({ ...asked, ...progress }, waits)).toBe(line)
  })
})
