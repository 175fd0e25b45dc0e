import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../../src/domain/faults.ts'
import { findStorm } from '../../../src/trials/explore/storm.ts'
import { tellStory, wordStory } from '../../../src/trials/explore/story.ts'
import { type FaultlessRun, isCrash, judge } from '../../../src/trials/explore/verdict.ts'
import { type ObservedRun, observeRun, type Send } from '../../support/observed-run.ts'

const add = (send: Send) => send('POST', '/domains', { domains: ['a.example'] })
const read = (send: Send) => send('GET', '/domains')
const nothing = async () => undefined

async function faultlessOf(
  act: (send: Send) => Promise<unknown>,
  more: Partial<FaultlessRun> = {},
): Promise<FaultlessRun> {
  const observation = await observeRun(act)
  return {
    observation,
    isStable: true,
    changes: observation.effects.changes.length > 0,
    storms: false,
    seconds: 0.1,
    ...more,
  }
}

describe('The verdict', () => {
  it.each<[verdict: string, usual: typeof read, now: typeof read, run: ObservedRun]>([
    ['tolerated', add, add, {}],
    ['wrong success', add, nothing, {}],
    ['wrong success', read, add, {}],
    ['false failure', add, add, { exitCode: 1 }],
    ['gave up', add, nothing, { exitCode: 1 }],
    ['gave up', read, read, { exitCode: 1 }],
    ['hang', add, add, { timedOut: true }],
  ])('is `%s`', async (verdict, usual, now, run) => {
    expect(judge(await observeRun(now, run), await faultlessOf(usual))).toBe(verdict)
  })

  it.each([
    ['tolerated', 0],
    ['gave up', 1],
  ])('is `%s` by the exit code alone where effects differ without faults', async (verdict, exitCode) => {
    expect(judge(await observeRun(nothing, { exitCode }), await faultlessOf(add, { isStable: false }))).toBe(verdict)
  })

  it.each<[verdict: string, isSerial: boolean, exitCode: number]>([
    ['tolerated', true, 0],
    ['wrong success', false, 0],
    // Another client has interfered, so the command may refuse to go on.
    ['gave up', true, 1],
  ])(
    'is `%s` beside another client, if the account is as after a serial order (%s) and it ends with %i',
    async (...row) => {
      const [verdict, isSerial, exitCode] = row
      const comparison = { isSerial, expected: { accounts: [], changes: [] } }
      expect(judge(await observeRun(add, { exitCode }), await faultlessOf(add), { comparison })).toBe(verdict)
    },
  )

  it('is no storm where the run without faults is one', async () => {
    const tries = await observeRun(async (send) => {
      for (let tries = 0; tries < 9; tries++) await send('GET', '/domaingroups?id=none')
    })
    const storm = { ...tries, requests: tries.requests.map((each, at) => ({ ...each, started: at, ended: at })) }
    expect(judge(storm, await faultlessOf(read))).toBe('storm')
    expect(judge(storm, await faultlessOf(read, { storms: true }))).toBe('tolerated')
  })
})

describe('A command that fails', () => {
  const REFUSED: FaultRule[] = [
    { match: { operation: 'addDomains' }, skip: 1, respond: { error: 'invalid_domain' }, times: 1 },
  ]
  const twice = async (send: Send) => [await add(send), await send('POST', '/domains', { domains: ['b.example'] })]
  const uncaught = (line: string) =>
    `file:///x.mjs:1\nthrow error\n^\n\n${line}\n    at file:///x.mjs:1:7\n\nNode.js v20.20.2\n`

  it.each<[verdict: string, output: string]>([
    ['gave up', uncaught('Error: 400 invalid_domain')],
    [
      'gave up',
      'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    f()\nurllib.error.HTTPError: HTTP Error 400: Bad Request\n',
    ],
    // The numbers of a stack, and the text of the program, are no report.
    ['crash', uncaught('TypeError: x is not a function').replace('x.mjs:1:7', 'x.mjs:400:7')],
    ['crash', uncaught('TypeError: x is not a function').replace('throw error', "if (code === 'invalid_domain') x()")],
    [
      'crash',
      'Traceback (most recent call last):\n  File "x.py", line 400, in <module>\n    f(400)\nKeyError: \'data\'\n',
    ],
  ])('with an exception is `%s`, if it names the refusal: %#', async (verdict, output) => {
    const run = await observeRun(twice, { plan: REFUSED, exitCode: 1, output })
    expect(judge(run, await faultlessOf(twice))).toBe(verdict)
  })

  it('is a false failure where all is done, also if it ends with an exception', async () => {
    const plan: FaultRule[] = [{ match: { operation: 'addDomains' }, times: 1, phase: 'after', connection: 'reset' }]
    const run = await observeRun(add, { plan, exitCode: 1, output: uncaught('Error: read ECONNRESET') })
    expect(judge(run, await faultlessOf(add))).toBe('false failure')
  })

  it('gave up where all is done and only a read was refused, which is what it says', async () => {
    const both = async (send: Send) => [await add(send), await read(send)]
    const plan: FaultRule[] = [{ match: { operation: 'listDomains' }, times: 1, respond: { error: 'internal_error' } }]
    expect(judge(await observeRun(both, { plan, exitCode: 1 }), await faultlessOf(both))).toBe('gave up')
  })
})

describe('A crash', () => {
  const NODE = 'file:///x.mjs:1\nthrow new Error()\n^\n\nError\n    at file:///x.mjs:1:7\n\nNode.js v20.20.2\n'
  const PYTHON = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    f()\nKeyError: \'data\'\n'

  it.each<[what: string, end: Partial<Parameters<typeof isCrash>[0]>, crashes: boolean]>([
    ['a signal', { exitCode: undefined, signal: 'SIGSEGV' }, true],
    ['a signal, as a shell tells it', { exitCode: 139 }, true],
    ['no signal', { exitCode: 128 }, false],
    ['an exception in Node.js', { output: NODE }, true],
    ['an exception in Python', { output: PYTHON }, true],
    ['a panic in Go', { exitCode: 2, output: 'panic: oh\n\ngoroutine 1 [running]:\nmain.main()\n' }, true],
    [
      'an exception in Java',
      { output: 'Exception in thread "main" java.lang.IllegalStateException: x\n\tat A.main(A.java:1)\n' },
      true,
    ],
    [
      'a stack that a runner of tests shows',
      { output: `${PYTHON}\nRan 1 test in 0.01s\n\nFAILED (errors=1)\n` },
      false,
    ],
    ['a failure that pytest sums up', { output: `${PYTHON}=== 1 failed, 2 passed in 0.12s ===\n` }, false],
    ['a message', { output: 'It failed: KeyError\n' }, false],
    ['a stack that was only logged', { exitCode: 0, output: NODE }, false],
  ])('is %s: %#', (_, end, crashes) => {
    expect(isCrash({ exitCode: 1, signal: undefined, output: '', ...end })).toBe(crashes)
  })
})

describe('A storm', () => {
  const FAILS: FaultRule[] = [
    { match: { operation: 'addDomains' }, phase: 'after', respond: { error: 'internal_error' } },
  ]
  const LIMITED: FaultRule[] = [{ match: { operation: 'listDomains' }, event: 'quota-used-up', times: 1 }]
  const MANY_TRIES = 'addDomains was sent more than 5 times, each time within a second after the last failure.'
  const IMPATIENT = 'More than 2 requests to /domains came between its 429 and the instant in X-RateLimit-Reset.'
  const times = (count: number, act: (send: Send, index: number) => Promise<unknown>) => async (send: Send) => {
    for (let done = 0; done < count; done++) await act(send, done)
  }
  /** The requests as if each took 10 ms, and the next one began so many milliseconds after its end. */
  async function pace(act: (send: Send) => Promise<unknown>, plan: FaultRule[], pause: number) {
    const { requests } = await observeRun(act, { plan })
    return requests.map((each, index) => ({ ...each, started: index * (10 + pause), ended: index * (10 + pause) + 10 }))
  }

  it.each<[count: number, pause: number, storm: string | undefined]>([
    [5, 0, undefined],
    [6, 0, MANY_TRIES],
    [6, 999, MANY_TRIES],
    [9, 1000, undefined],
  ])('is more than five tries of what fails, each within a second after the last: %i, %i ms', async (...row) => {
    const [count, pause, storm] = row
    expect(findStorm(await pace(times(count, add), FAILS, pause))).toBe(storm)
  })

  it('counts anew after a success, after a pause, and for another body', async () => {
    const failed: FaultRule = { match: { operation: 'listDomains' }, respond: { error: 'internal_error' } }
    const twice = [
      { ...failed, times: 4 },
      { ...failed, skip: 1 },
    ]
    expect(findStorm(await pace(times(9, read), twice, 0))).toBeUndefined()
    const pausing = (await pace(times(9, add), FAILS, 0)).map((each, index) =>
      index < 5 ? each : { ...each, started: each.started + 2000, ended: each.ended + 2000 },
    )
    expect(findStorm(pausing)).toBeUndefined()
    const others = times(9, (send, index) => send('POST', '/domains', { domains: [`d${index}.example`] }))
    expect(findStorm(await pace(others, FAILS, 0))).toBeUndefined()
    // What a fault has kept from being read is unknown.
    const unread = FAILS.map((rule): FaultRule => ({ ...rule, phase: 'before' }))
    expect(findStorm(await pace(others, unread, 0))).toBeUndefined()
  })

  it('is not what was sent at the same time as the first request to which a 429 was told', async () => {
    const { requests } = await observeRun(times(9, read), { plan: LIMITED })
    // The requests come at once, and each 429 is held back.
    const burst = requests.map((each, index) => ({ ...each, started: index, ended: index + 200 }))
    expect(findStorm(burst)).toBeUndefined()
    const impatient = requests.map((each, index) => ({ ...each, started: index * 200, ended: index * 200 + 200 }))
    expect(findStorm(impatient)).toBeDefined()
  })

  const limited = (others: number) => async (send: Send) => {
    await read(send)
    await times(others, (each, sent) => each('POST', '/domains', { domains: [`d${sent}.example`] }))(send)
  }

  it.each<[others: number, pause: number, storm: string | undefined]>([
    [2, 0, undefined],
    [3, 0, IMPATIENT],
  ])('is more than two requests to a path between its 429 and the reset: %i', async (others, pause, storm) => {
    expect(findStorm(await pace(limited(others), LIMITED, pause))).toBe(storm)
  })

  it('is not what was sent before the 429 came, at the reset, or to another path', async () => {
    const impatient = await pace(limited(4), LIMITED, 0)
    const [first] = impatient
    const resetAt = (first?.entry.allowance?.resetAt ?? 0) * 1000
    const early = impatient.map((each, index) => (index === 0 ? each : { ...each, started: (first?.ended ?? 0) - 1 }))
    expect(findStorm(early)).toBeUndefined()
    const at = (instant: number) =>
      impatient.map((each, index) => (index === 0 ? each : { ...each, entry: { ...each.entry, at: instant } }))
    expect([findStorm(at(resetAt - 1)), findStorm(at(resetAt))]).toEqual([IMPATIENT, undefined])
    const act = async (send: Send) => [await read(send), await times(4, (each) => each('GET', '/dmarc'))(send)]
    expect(findStorm(await pace(act, LIMITED, 0))).toBeUndefined()
  })
})

describe('A wait for a fixed time', () => {
  const PLAN: FaultRule[] = [{ match: { operation: 'addDomains' }, event: 'quota-used-up', times: 1 }]
  const twice = async (send: Send) => [await add(send), await add(send)]

  /** The second request begins so many seconds before or after the reset that the first one was told. */
  async function tryAgain(afterReset: number) {
    const run = await observeRun(twice, { plan: PLAN, exitCode: 1 })
    const resetAt = run.requests[0]?.entry.allowance?.resetAt ?? 0
    const requests = run.requests.map((each, index) =>
      index === 0 ? each : { ...each, entry: { ...each.entry, at: (resetAt + afterReset) * 1000 } },
    )
    return { ...run, requests }
  }

  it.each<[afterReset: number, isLong: boolean, verdict: string]>([
    [-2, true, 'storm'],
    // A client may round down.
    [-1, true, 'gave up'],
    [0, true, 'gave up'],
    [-2, false, 'gave up'],
  ])(
    'is one more try %i s after the reset, where windows are longer (%j): `%s`',
    async (afterReset, isLong, verdict) => {
      expect(judge(await tryAgain(afterReset), await faultlessOf(add), { isLong })).toBe(verdict)
    },
  )

  it('is not a wait that becomes longer from try to try', async () => {
    const run = await observeRun(async (send) => [...(await twice(send)), await add(send)], {
      plan: [...PLAN],
      exitCode: 1,
    })
    const waits = (second: number) =>
      run.requests.map((each, index) => {
        const started = [0, 1_000, 1_000 + second][index] ?? 0
        return { ...each, started, ended: started + 10 }
      })
    const faultless = await faultlessOf(add)
    expect(judge({ ...run, requests: waits(2_000) }, faultless, { isLong: true })).toBe('gave up')
    expect(judge({ ...run, requests: waits(1_000) }, faultless, { isLong: true })).toBe('storm')
  })
})

describe('The story of a run', () => {
  it('marks faults, tells what was done, and joins equal requests', async () => {
    const plan: FaultRule[] = [
      { match: { operation: 'addDomains' }, times: 1, phase: 'after', connection: 'reset' },
      { match: { operation: 'listDomainGroups' }, times: 1, event: 'quota-used-up' },
    ]
    const run = await observeRun(
      async (send) => {
        for (let sent = 0; sent < 9; sent++) await send('GET', `/dmarc`)
        await send('GET', '/secret_key')
        await add(send)
        await add(send)
        for (let sent = 0; sent < 4; sent++) await send('GET', '/domaingroups')
      },
      { plan },
    )
    const story = tellStory(run)
    expect(story.map(wordStory)).toEqual([
      'GET /dmarc → 200 (9 times)',
      'GET (no path of the service) → 404 not_found',
      'POST /domains (a.example) → no answer, and the change was made   ← The connection was reset in place of an answer.',
      'POST /domains (a.example) → 400 invalid_domain',
      'GET /domaingroups → 429 rate_limited   ← The quota of the path was used up, and a whole window is left until the reset.',
      'GET /domaingroups → 429 rate_limited (3 times)',
    ])
  })

  it('leaves out what is far from the faults', async () => {
    const plan: FaultRule[] = [{ match: { operation: 'addDomains' }, connection: 'reset' }]
    const run = await observeRun(
      async (send) => {
        for (let sent = 0; sent < 9; sent++) await send('POST', '/domaingroups', { name: `G${sent}` })
        await add(send)
        for (let sent = 0; sent < 20; sent++) await send('POST', '/domaingroups', { name: `H${sent}` })
      },
      { plan },
    )
    const story = tellStory(run)
    expect(story[0]).toEqual({ omitted: 5 })
    expect(story.at(-1)).toEqual({ omitted: 8 })
    expect(story).toHaveLength(1 + 4 + 1 + 12 + 1)
  })
})
