import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { runCommand } from '../../../src/trials/command.ts'
import type { CommandEnd } from '../../../src/trials/running-command.ts'

/** Sends a request, and resolves to `data`. Rejects with the code of an error. */
export type Send = <Data = unknown>(
  method: string,
  path: string,
  body?: unknown,
  /** In place of the key of the command. */
  key?: string,
  /** Aborted when the client gives the request up. */
  leave?: AbortSignal,
) => Promise<Data>
/** A client as a function of this process: a throw is a failure. */
export type Client = (send: Send, signal: AbortSignal) => Promise<void>

/** In turns of the event loop: nothing that has been started takes longer until it waits for the service. */
const BUSY = 12

/** A command whose program is a function. It costs a hundredth of a process, and it is known when it waits. */
async function runClient(
  client: Client,
  { UNDERSTUDY_BASE_URL: base = '', UNDERSTUDY_API_KEY: key = '' }: NodeJS.ProcessEnv,
  signal: AbortSignal,
  note: (isAsleep: () => boolean) => void,
): Promise<Pick<CommandEnd, 'exitCode' | 'signal' | 'output'>> {
  let busy = BUSY
  const countDown = async () => {
    for (; busy > 0; busy--) await nextTurn()
  }
  let counting = countDown()
  const move = () => {
    const isOver = busy === 0
    busy = BUSY
    if (isOver) counting = countDown()
  }
  note(() => busy === 0)
  const send: Send = async (method, path, body, otherKey = key, leave = signal) => {
    move()
    const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    try {
      const response = await new Promise<Parameters<typeof json>[0] & { statusCode?: number }>((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${otherKey}`,
          ...(sent && { 'content-type': 'application/json', 'content-length': sent.length }),
        }
        request(base + path, { method, headers, signal: AbortSignal.any([signal, leave]), agent: false })
          .on('response', resolve)
          .on('error', reject)
          .end(sent)
      })
      const { data, error } = (await json(response)) as { data: never; error?: { code: string } }
      if (error !== undefined) throw new Error(error.code)
      return data
    } finally {
      move()
    }
  }
  const ended = new Promise<'ended'>((resolve) => signal.addEventListener('abort', () => resolve('ended')))
  try {
    const how = await Promise.race([client(send, signal), ended])
    await counting
    if (how === 'ended') return { exitCode: undefined, signal: 'SIGTERM', output: '' }
    return { exitCode: 0, signal: undefined, output: '' }
  } catch (error) {
    if (signal.aborted) return { exitCode: undefined, signal: 'SIGTERM', output: '' }
    return { exitCode: 1, signal: undefined, output: `Error: ${(error as Error).message}` }
  }
}

/** In place of `runCommand`: the last word of a command is the name of a client. */
export function startIn(clients: Readonly<Record<string, Client>>): typeof runCommand {
  return async ({ command, environment, signal, started }) => {
    const client = clients[command.at(-1) ?? '']
    if (client === undefined) throw new Error(`There is no client ${command.join(' ')}.`)
    const stop = signal ?? new AbortController().signal
    const end = await runClient(client, environment, stop, (isAsleep) => {
      started?.({
        get isAsleep() {
          return isAsleep()
        },
      })
    })
    return { ...end, timedOut: false, interruptedBy: undefined, seconds: 0, leftBehind: [] }
  }
}
