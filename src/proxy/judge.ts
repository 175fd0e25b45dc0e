import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { JudgedDifference } from '../conformance/finding.ts'
import { type Conclusion, Investigation } from '../conformance/investigation.ts'
import type { Choices } from '../contract/choices.ts'
import type { Overlay } from '../contract/overlay.ts'
import type { Exchange } from '../exchanges/exchange.ts'

/** Judges exchanges one after the other. Calls of `take` must not overlap. */
export interface ExchangeJudge {
  take(exchange: Exchange): Promise<readonly JudgedDifference[]>
  /** Must be called if exchanges before the next one are missing. */
  forget(): void
  conclude(): Promise<Conclusion>
  close(): Promise<void>
}

/** What the judge thread receives at its start. */
export interface JudgeStart {
  overlays: readonly Overlay[]
  isSoleWriter: boolean
}

/** The requests to the judge thread. It answers all but `forget`, and it also answers when it is ready. */
export type JudgeRequest = { take: Exchange } | 'forget' | 'conclude'
export type JudgeAnswer = { value: unknown } | { failure: string }

/**
 * Opens a judge in its own thread, so that traffic never waits for it and continues even if the judge fails. Node.js
 * cannot start a thread from uncompiled sources. There, the judge shares the main thread with the traffic. `choices`
 * are those of the overlays.
 */
export async function openJudge({ choices, ...start }: JudgeStart & { choices: Choices }): Promise<ExchangeJudge> {
  if (!import.meta.url.endsWith('.ts')) return openThread(start)
  const investigation = await Investigation.begin({ choices, isSoleWriter: start.isSoleWriter })
  return {
    take: (exchange) => investigation.take(exchange),
    forget: () => investigation.forget(),
    conclude: async () => investigation.conclude(),
    close: async () => {},
  }
}

async function openThread(start: JudgeStart): Promise<ExchangeJudge> {
  const thread = new Worker(new URL('./judge-thread.js', import.meta.url), { workerData: start })
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
  async function ask<Value>(request: JudgeRequest): Promise<Value> {
    if (end !== undefined) throw end
    const answered = nextAnswer()
    thread.postMessage(request)
    const answer = await answered
    if ('failure' in answer) throw new Error(answer.failure)
    return answer.value as Value
  }

  await nextAnswer()
  return {
    take: (exchange) => ask({ take: exchange }),
    forget: () => thread.postMessage('forget' satisfies JudgeRequest),
    conclude: () => ask('conclude'),
    async close() {
      if (end !== undefined) return
      const ended = once(thread, 'exit')
      await thread.terminate()
      await ended
    },
  }
}
