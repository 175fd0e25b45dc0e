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
  conclude(): Conclusion | Promise<Conclusion>
}

export interface ExchangeJudgeOptions {
  choices: Choices
  /** The overlays of `choices`. */
  overlays: readonly Overlay[]
  isSoleWriter: boolean
}

/** What the judge thread receives at its start. */
export type JudgeStart = Pick<ExchangeJudgeOptions, 'overlays' | 'isSoleWriter'>
/** The requests to the judge thread. It answers `take` and `conclude`. */
export type JudgeRequest = { kind: 'take'; exchange: Exchange } | { kind: 'forget' } | { kind: 'conclude' }
export type JudgeAnswer =
  | { findings: readonly JudgedDifference[] }
  | { conclusion: Conclusion }
  | { failure: string }
  | 'ready'

/**
 * Opens a judge in its own thread, so that traffic never waits for it and continues even if the judge fails. Node.js
 * cannot start a thread from uncompiled sources. There, the judge shares the main thread with the traffic.
 */
export async function openJudge(options: ExchangeJudgeOptions): Promise<ExchangeJudge & { close(): Promise<void> }> {
  const { choices, isSoleWriter, overlays } = options
  if (import.meta.url.endsWith('.ts')) {
    const investigation = await Investigation.begin({ choices, isSoleWriter })
    return {
      take: (exchange) => investigation.take(exchange),
      forget: () => investigation.forget(),
      conclude: () => investigation.conclude(),
      close: async () => {},
    }
  }
  const start: JudgeStart = { overlays, isSoleWriter }
  const judge = new ThreadJudge(new Worker(new URL('./judge-thread.js', import.meta.url), { workerData: start }))
  await judge.ready()
  return judge
}

class ThreadJudge implements ExchangeJudge {
  readonly #thread: Worker
  /** Why the thread does not answer any more. */
  #failure: Error | undefined
  #wait: { resolve(answer: JudgeAnswer): void; reject(error: Error): void } | undefined

  constructor(thread: Worker) {
    this.#thread = thread
    thread.on('message', (answer: JudgeAnswer) => this.#wait?.resolve(answer))
    thread.on('error', (error) => this.#fail(error as Error))
    thread.on('exit', () => this.#fail(new Error('The thread of the judge has ended.')))
  }

  async ready(): Promise<void> {
    await this.#answer()
  }

  async take(exchange: Exchange): Promise<readonly JudgedDifference[]> {
    const answer = await this.#ask({ kind: 'take', exchange })
    return typeof answer === 'object' && 'findings' in answer ? answer.findings : []
  }

  forget(): void {
    this.#thread.postMessage({ kind: 'forget' } satisfies JudgeRequest)
  }

  async conclude(): Promise<Conclusion> {
    const answer = await this.#ask({ kind: 'conclude' })
    if (typeof answer === 'object' && 'conclusion' in answer) return answer.conclusion
    throw new Error('The thread of the judge has not concluded.')
  }

  async close(): Promise<void> {
    if (this.#failure !== undefined) return
    const ended = once(this.#thread, 'exit')
    await this.#thread.terminate()
    await ended
  }

  async #ask(request: JudgeRequest): Promise<JudgeAnswer> {
    if (this.#failure !== undefined) throw this.#failure
    const answer = this.#answer()
    this.#thread.postMessage(request)
    const given = await answer
    if (typeof given === 'object' && 'failure' in given) throw new Error(given.failure)
    return given
  }

  #answer(): Promise<JudgeAnswer> {
    return new Promise((resolve, reject) => {
      this.#wait = { resolve, reject }
    })
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#wait?.reject(this.#failure)
  }
}
