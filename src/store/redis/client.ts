import { SCRIPTS, type ScriptName } from './scripts.ts'

/** The address of the server, and the user for the login. */
export interface StoreAddress {
  host: string
  port: number
  tls?: boolean | undefined
  username?: string | undefined
  password?: string | undefined
  database?: number | undefined
}

/** What is used of the client of `@redis/client`. */
export interface RedisClient extends Record<ScriptName, (prefix: string, args: readonly string[]) => Promise<unknown>> {
  connect(): Promise<unknown>
  destroy(): void
  on(event: 'error', listener: (error: Error) => void): unknown
  sendCommand(words: readonly string[]): Promise<unknown>
}

/** How clients are made for an address. Users with accounts in memory or in a folder do not wait for the package. */
export async function prepareClients(address: StoreAddress): Promise<(name: string) => RedisClient> {
  const { createClient, defineScript } = await import('@redis/client')
  const define = (SCRIPT: string) =>
    defineScript({
      SCRIPT,
      NUMBER_OF_KEYS: 1,
      parseCommand(parser, prefix: string, args: readonly string[]) {
        parser.pushKey(prefix)
        parser.pushVariadic([...args])
      },
      transformReply: undefined as unknown as () => unknown,
    })
  const scripts = Object.fromEntries(Object.entries(SCRIPTS).map(([name, text]) => [name, define(text)]))
  const { host, port, tls = false, username, password, database } = address
  // A connection here is used until it is lost, and then replaced. The package would write again what waits in it.
  const timing = { connectTimeout: 60_000, reconnectStrategy: false as const }
  const socket = { ...timing, host, port, ...(tls && { tls: true as const }) }
  return (name) =>
    createClient({
      ...{ RESP: 2, name, socket, scripts, disableOfflineQueue: true, disableClientInfo: true },
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(database !== undefined && { database }),
    } as never) as unknown as RedisClient
}
