// What accounts and their requests take of the memory of a Redis.
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { domainName } from './accounts.mjs'
import { controlRequest, OURS, serveCommand, serviceRequest, startCandidate } from './candidates.mjs'
import { always, ask, drive } from './load.mjs'
import { stopAll } from './processes.mjs'
import { startRedis } from './redis.mjs'

/** Domains of an account → how many such accounts are made. */
const SIZES = { 10: 100, 1000: 10, 10000: 3 }
/** As many as the journal keeps of an account, unless it is said otherwise. */
const REQUESTS = 1_000

/** Bytes of new accounts of several sizes, and of a small exchange in the journal. Nothing without Redis. */
export async function measureStoreMemory(_plan, folder) {
  const redis = await startRedis(join(folder, 'redis-of-sizes'))
  if (redis === undefined) return undefined
  const { port } = await startCandidate(OURS, serveCommand('empty', { options: redis.options }))
  async function grownBy(act) {
    const before = await usedMemory(redis.port)
    await act()
    return (await usedMemory(redis.port)) - before
  }
  // The first account takes what all of them share.
  await ask(port, controlRequest('POST', '/accounts', { id: 'first' }))
  const accounts = []
  for (const [size, count] of Object.entries(SIZES)) {
    const domains = Array.from({ length: Number(size) }, (_, index) => domainName(index))
    const bytes = await grownBy(async () => {
      for (let index = 0; index < count; index++) {
        await ask(port, controlRequest('POST', '/accounts', { id: `of-${size}-${index}`, fixture: { domains } }))
      }
    })
    accounts.push({ domains: Number(size), bytes: bytes / count })
  }
  const journal = await grownBy(() => drive(port, always(serviceRequest('GET', '/domains'), 1), { answers: REQUESTS }))
  await stopAll()
  return { accounts, bytesOfExchange: journal / REQUESTS }
}

/** Without buffers of connections. */
async function usedMemory(port) {
  const socket = connect(port, '127.0.0.1', () => socket.write('INFO memory\r\n'))
  const [reply] = await once(socket, 'data')
  socket.destroy()
  return Number(/used_memory_dataset:(\d+)/.exec(reply)[1])
}
