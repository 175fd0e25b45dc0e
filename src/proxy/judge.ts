import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type Conclusion, Investigation } from '../conformance/investigation.ts'
import type { Choices } from '../contract/choices.ts'
import type { Overlay } from '../contract/overlay.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import { findThreadModule } from '../ground/package-files.ts'
import type { JudgedDifference } from '../judge/finding.ts'

/** The judgement of one exchange. */
export interface ExchangeJudgement {
  findings: readonly JudgedDifference[]
  /** Whether the behaviour could be judged. */
  isJudged: boolean
}

/** What was found so far, without what it says about choices. */
export type Tally = Pick<Conclusion, 'exchanges' | 'judged' | 'findings' | 'counts'>

/** What a judge has found that has ended before it could say anything. */
export const NOTHING_FOUND: Conclusion = {
  exchanges: 0,
  judged: 0,
  findings: [],
  counts: {},
  observations: [],
  messages: {},
}

/** Judges exchanges one after the other, in the order of the calls. */
export interface ExchangeJudge {
  take(exchange: Exchange): Promise<ExchangeJudgement>
  /** Must be called if exchanges before the next one are missing. */
  forget(): Promise<void>
  tally(): Promise<Tally>
  conclude(): Promise<Conclusion>
  close(): Promise<void>
}

/** What the judge thread receives at its start. */
export interface JudgeStart {
  overlays: readonly Overlay[]
  isSoleWriter: boolean
}

/** The requests to the judge thread, which it answers in their order. It also answers when it is ready. */
export type JudgeRequest = { take: Exchange } | 'forget' | 'tally' | 'conclude'
export type JudgeAnswer = { value: unknown } | { failure: string }

/**
 * Opens a judge in its own thread, so that traffic never waits for it and continues even if the judge fails. Node.js
 * cannot start a thread from uncompiled sources. There, the judge shares the main thread with the traffic. `choices`
 * are those of the overlays.
 */
export async function openJudge({ choices, ...start }: JudgeStart & { choices: Choices }): Promise<ExchangeJudge> {
  const module = findThreadModule('dist/parts/judge-thread.js')
  const { ask, close } = module ? await openThread(module, start) : await openHere(choices, start)
  let last: Promise<unknown> = Promise.resolve()
  function askInTurn<Value>(request: JudgeRequest): Promise<Value> {
    const answer = last.then(() => ask(request))
    last = answer.catch(() => {})
    return answer as Promise<Value>
  }
  return {
    take: (exchange) => askInTurn({ take: exchange }),
    forget: () => askInTurn('forget'),
    tally: () => askInTurn('tally'),
    conclude: () => askInTurn('conclude'),
    close,
  }
}

interface JudgeDoor {
  ask(request: JudgeRequest): Promise<unknown>
  close(): Promise<void>
}

async function openHere(choices: Choices, { isSoleWriter }: JudgeStart): Promise<JudgeDoor> {
  const investigation = await Investigation.begin({ choices, isSoleWriter })
  return { ask: (request) => answerJudgeRequest(investigation, request), close: async () => {} }
}

/** What the judge answers, in the thread or without one. */
export async function answerJudgeRequest(investigation: Investigation, request: JudgeRequest): Promise<unknown> {
  if (request === 'forget') return investigation.forget()
  if (request === 'conclude') return investigation.conclude()
  if (request === 'tally') {
    const { exchanges, judged, findings, counts } = investigation.conclude()
    return { exchanges, judged, findings, counts } satisfies Tally
  }
  const before = investigation.judged
  const findings = await investigation.take(request.take)
  return { findings, isJudged: investigation.judged > before } satisfies ExchangeJudgement
}

async function openThread(module: URL, start: JudgeStart): Promise<JudgeDoor> {
  const thread = new Worker(module, { workerData: start })
  /** Why the thread does not answer any more. */
  let end: Error | undefined
  let wait: { resolve(answer: JudgeAnswer): void; reject(error: Error): void } | undefined
  function fail(error: Error): void {
    end ??= error
    wait?.reject(end)
  }
  thread.on('message', (answer: JudgeAnswer) => wait?.resolve(answer))
  thread.on('error', fail)
  thread.on('exit', () => fail(new Error('The thread of the judge has ended.')))

  const nextAnswer = () => new Promise<JudgeAnswer>((resolve, reject) => (wait = { resolve, reject }))
  await nextAnswer()
  return {
    async ask(request) {
      if (end !== undefined) throw end
      const answered = nextAnswer()
      thread.postMessage(request)
      const answer = await answered
      if ('failure' in answer) throw new Error(answer.failure)
      return answer.value
    },
    async close() {
      if (end !== undefined) return
      const ended = once(thread, 'exit')
      await thread.terminate()
      await ended
    },
  }
}
