import { connect } from 'node:net'
import type { ServiceContract } from '../../src/behaviour/operation.ts'
import { type Contract, loadContract } from '../../src/contract/contract.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import type { Store } from '../../src/store/store.ts'
import type { CommandEnd, CommandRun } from '../../src/trials/command.ts'
import { ExploreSession, type SessionTerms } from '../../src/trials/explore/session.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY, type TestService } from '../support/service.ts'

/**
 * A client in this process. It resolves to its exit code; without a number, it passes. What it throws is its output, and
 * it fails.
 */
export type Client = (service: TestService, trial: string) => Promise<unknown>

/** Runs a client in place of the process of a command. */
export function carryOut(client: Client): (run: Pick<CommandRun, 'environment'>) => Promise<CommandEnd> {
  return async ({ environment }) => {
    const usual = { signal: undefined, timedOut: false, interruptedBy: undefined, hasLeftBehind: false, seconds: 0 }
    const service = serviceAt(environment)
    try {
      const result = await client(service, environment['UNDERSTUDY_TRIAL'] ?? '')
      return { ...usual, exitCode: typeof result === 'number' ? result : 0, output: '' }
    } catch (error) {
      return { ...usual, exitCode: 1, output: `Error: ${(error as Error).message}` }
    } finally {
      await service.stop()
    }
  }
}

/** A session of `explore` for a client. */
export async function openSession(
  client: Client,
  options: ServerOptions,
  more: Partial<SessionTerms> = {},
): Promise<ExploreSession> {
  const contract = await loadContract()
  return new ExploreSession({
    ...{ command: ['client'], environment: {}, variables: [], options: { apiKey: API_KEY, ...options } },
    ...{ contract, contractWith: async () => contract, jobs: 2, timeout: undefined, window: undefined },
    ...{ stop: new AbortController().signal, onSignal: undefined, redact: (text) => text, watch: () => {} },
    ...{ carryOut: carryOut(client), ...more },
  })
}

/** The service that the environment of a command names. Its clock is moved by the control plane. */
function serviceAt(environment: NodeJS.ProcessEnv): TestService {
  const { UNDERSTUDY_BASE_URL: baseUrl = '', UNDERSTUDY_ADMIN_URL: adminUrl = '' } = environment
  let moved: Promise<unknown> = Promise.resolve()
  const send: TestService['send'] = async (method, path, body, headers = {}) => {
    await moved
    return sendRequest(method, baseUrl + path, body, { authorization: `Bearer ${API_KEY}`, ...headers })
  }
  // A client holds no response to a contract, and has no access to the store.
  const contract = { operations: [], checkFailure: () => [] } as Partial<Contract> as ServiceContract
  return {
    ...{ baseUrl, contract, store: {} as Store },
    send,
    get: (path) => send('GET', path),
    advance(milliseconds) {
      const advance = `PT${milliseconds / 1000}S`
      moved = moved.then(() => sendRequest('PATCH', `${adminUrl}/accounts/default/clock`, { advance }))
      return moved
    },
    async sendRaw(bytes) {
      await moved
      const { port, hostname } = new URL(baseUrl)
      const chunks: Buffer[] = []
      const socket = connect(Number(port), hostname, () => void socket.write(bytes))
      socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {})
      await new Promise((resolve) => socket.once('close', resolve))
      return Buffer.concat(chunks).toString()
    },
    async stop() {
      await moved
    },
  }
}
