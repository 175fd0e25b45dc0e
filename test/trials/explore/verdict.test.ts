import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../../src/domain/faults.ts'
import { findStorm } from '../../../src/trials/explore/storm.ts'
import { tellStory, wordStory } from '../../../src/trials/explore/story.ts'
import { type Baseline, isCrash, judge } from '../../../src/trials/explore/verdict.ts'
import { type ObservedRun, observeRun, type Send } from '../../support/observed-run.ts'

const add = (send: Send) => send('POST', '/domains', { domains: ['a.example'] })
const read = (send: Send) => send('GET', '/domains')
const nothing = async () => undefined

async function baselineOf(act: (send: Send) => Promise<unknown>, more: Partial<Baseline> = {}): Promise<Baseline> {
  const observation = await observeRun(act)
  return { observation, isStable: true, changes: observation.effects.changes.length > 0, storms: false, ...more }
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
    expect(judge(await observeRun(now, run), await baselineOf(usual))).toBe(verdict)
  })

  it.each([
    ['tolerated', 0],
    ['gave up', 1],
  ])('is `%s` by the exit code alone where effects differ without faults', async (verdict, exitCode) => {
    expect(judge(await observeRun(nothing, { exitCode }), await baselineOf(add, { isStable: false }))).toBe(verdict)
  })

  it('is no storm where the baseline is one', async () => {
    const storm = await observeRun(async (send) => {
      for (let tries = 0; tries < 9; tries++) await send('GET', '/domaingroups?id=none')
    })
    expect(judge(storm, await baselineOf(read))).toBe('storm')
    expect(judge(storm, await baselineOf(read, { storms: true }))).toBe('tolerated')
  })
})

describe('A crash', () => {
  const NODE = 'file:///x.mjs:1\nthrow new Error()\n^\n\nError\n    at file:///x.mjs:1:7\n\nNode.js v20.20.2\n'
  const PYTHON = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    f()\nKeyError: \'data\'\n'

  it.each<[what: string, end: Partial<Parameters<typeof isCrash>[0]>, crashes: boolean]>([
    ['a signal', { exitCode: undefined, signal: 'SIGSEGV' }, true],
    ['a signal, as a shell tells it', { exitCode: 139 }, true],
    ['an exception in Node.js', { output: NODE }, true],
    ['an exception in Python', { output: PYTHON }, true],
    ['an exception in Python of a module', { output: PYTHON.replace('KeyError', 'urllib.error.URLError') }, true],
    ['a panic in Go', { exitCode: 2, output: 'panic: oh\n\ngoroutine 1 [running]:\nmain.main()\n' }, true],
    [
      'an exception in Java',
      { output: 'Exception in thread "main" java.lang.IllegalStateException: x\n\tat A.main(A.java:1)\n' },
      true,
    ],
    ['a panic in Rust', { exitCode: 101, output: "thread 'main' panicked at src/main.rs:2:5:\noh\n" }, true],
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
  const FAILS: FaultRule[] = [{ match: { operation: 'addDomains' }, respond: { error: 'internal_error' } }]
  const LIMITED: FaultRule[] = [{ match: { operation: 'listDomains' }, event: 'quota-used-up', times: 1 }]
  const times = (count: number, act: (send: Send) => Promise<unknown>) => async (send: Send) => {
    for (let done = 0; done < count; done++) await act(send)
  }

  it.each<[count: number, isStorm: boolean]>([
    [5, false],
    [6, true],
  ])('of one request that fails is not %i tries: %s', async (count, isStorm) => {
    const { requests } = await observeRun(times(count, add), { plan: FAILS })
    expect(findStorm(requests)).toBe(
      isStorm ? 'addDomains was sent more than 5 times, each time within a second after the last failure.' : undefined,
    )
  })

  it('is not many requests that succeed', async () => {
    expect(findStorm((await observeRun(times(20, read))).requests)).toBeUndefined()
  })

  it('is not tries with a pause', async () => {
    const { requests } = await observeRun(times(9, add), { plan: FAILS })
    const slow = requests.map((each, index) => ({ ...each, started: index * 1100, ended: index * 1100 + 5 }))
    expect(findStorm(slow)).toBeUndefined()
  })

  it.each<[others: number, isStorm: boolean]>([
    [2, false],
    [3, true],
  ])('is more than two requests to a path between its 429 and the reset: %i', async (others, isStorm) => {
    const act = async (send: Send) => {
      await read(send)
      for (let sent = 0; sent < others; sent++) await send('POST', '/domains', { domains: [`d${sent}.example`] })
    }
    const { requests } = await observeRun(act, { plan: LIMITED })
    expect(findStorm(requests)).toBe(
      isStorm
        ? 'More than 2 requests to /domains came between its 429 and the instant in X-RateLimit-Reset.'
        : undefined,
    )
  })

  it('is not what goes to another path meanwhile', async () => {
    const act = async (send: Send) => [await read(send), await times(4, (each) => each('GET', '/dmarc'))(send)]
    expect(findStorm((await observeRun(act, { plan: LIMITED })).requests)).toBeUndefined()
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
