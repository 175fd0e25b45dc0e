import { bindBehaviours } from '../../src/behaviour/operation.ts'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { FaultRule } from '../../src/domain/faults.ts'
import { elapsed } from '../../src/ground/timers.ts'
import type { Entry } from '../../src/journal/entry.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import type { StandIn } from '../../src/server/stand-in.ts'
import { openUnderstudy } from '../../src/server/understudy.ts'
import { observe, type RunObservation } from '../../src/trials/explore/points.ts'
import { type Received, sendRequest } from './request.ts'
import { API_KEY } from './service.ts'

/** The contract under which a run is observed. */
export const CONTRACT = bindBehaviours(await loadContract(), { behaviours: OPERATIONS, simulator: true })

export type Send = (method: string, path: string, body?: unknown) => Promise<Received | undefined>

export interface ObservedRun {
  plan?: readonly FaultRule[]
  options?: ServerOptions
  /** How the command would have ended; by default with the number that its requests resolve to, if they do. */
  exitCode?: number
  output?: string
  timedOut?: boolean
}

/** How a path begins that is requested with the key of another account. */
export const SECOND = 'second:'

/** What is observed of a command that sends these requests; one whose connection fails resolves to `undefined`. */
export async function observeRun(
  act: (send: Send) => Promise<unknown>,
  { plan = [], options = {}, exitCode, output = '', timedOut = false }: ObservedRun = {},
): Promise<RunObservation> {
  const exchanges: Entry[] = []
  const endedAt: number[] = []
  let parts: StandIn | undefined
  const service = await openUnderstudy({ fixture: 'empty', apiKey: API_KEY, ...options }, OPERATIONS, {
    faults: plan,
    open(opened) {
      parts = opened
      opened.journal.subscribe((entry) => {
        exchanges.push(entry)
        endedAt.push(elapsed())
      })
    },
  })
  try {
    const { apiKey } = await service.createAccount({ id: 'second', fixture: 'empty' })
    const result = await act(
      // A path that begins so is of the second account.
      (method, path, body) => {
        const isSecond = path.startsWith(SECOND)
        const url = service.baseUrl + (isSecond ? path.slice(SECOND.length) : path)
        const headers = { authorization: `Bearer ${isSecond ? apiKey : API_KEY}` }
        return sendRequest(method, url, body, headers).catch(() => undefined)
      },
    )
    const accounts = new Map()
    for (const id of (await parts?.store.list()) ?? []) accounts.set(id, (await parts?.store.read(id))?.state)
    const ended = exitCode ?? (typeof result === 'number' ? result : 0)
    const how = { exitCode: ended, signal: undefined, timedOut, interruptedBy: undefined }
    const end = { ...how, seconds: 0.1, output, hasLeftBehind: false }
    return observe({ end, exchanges, ended: endedAt, lost: 0, accounts, contract: CONTRACT })
  } finally {
    await service.stop()
  }
}
