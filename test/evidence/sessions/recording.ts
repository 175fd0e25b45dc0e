import { OPERATIONS } from '../../../src/behaviour/operations/operations.ts'
import type { Alternative } from '../../../src/contract/choices.ts'
import type { Exchange } from '../../../src/evidence/exchange.ts'
import type { ServerOptions } from '../../../src/start/options.ts'
import { sendRequest } from '../../support/request.ts'
import { API_KEY, openService, START, type TestService } from '../../support/service.ts'
import { choices } from './judgement.ts'
import { startRelay } from './relay.ts'

/** A client, and the account that it finds. */
export interface Client {
  options?: ServerOptions | undefined
  ask(service: TestService): Promise<unknown>
}

const HOUR = 3_600_000

/** What a client of a service that makes these choices sends and gets. It looks at everything before and afterwards. */
export async function recordClient(
  { options, ask }: Client,
  alternatives: readonly Alternative[],
): Promise<Exchange[]> {
  let now = START
  const contract = await choices.load(alternatives)
  const service = await openService(options, OPERATIONS, { contract })
  const relay = await startRelay(service.baseUrl, () => now)

  const advance = (milliseconds: number) => {
    now += milliseconds
    service.advance(milliseconds)
  }
  const send: TestService['send'] = (method, path, body, headers) =>
    sendRequest(method, relay.baseUrl + path, body, { authorization: `Bearer ${API_KEY}`, ...headers })
  const get = (path: string) => send('GET', path)
  const look = async () => {
    for (const path of ['/domains', '/domaingroups', '/dmarc']) await get(path)
    advance(HOUR)
  }

  try {
    await look()
    // What it expects may not be so under several alternatives; what was exchanged until then is enough.
    await ask({ ...service, baseUrl: relay.baseUrl, send, get, advance }).catch(() => {})
    advance(HOUR)
    await look()
    return relay.exchanges
  } finally {
    await relay.stop()
    await service.stop()
  }
}
