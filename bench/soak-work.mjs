// What the clients of a soak do, for as long as it lasts.
import { request as httpRequest } from 'node:http'

/** Keys of sandboxes, of which only so many have room at a time. */
const SANDBOXES = 600
export const ROOM = 200
/** What any request may be answered. A fault answers 429, and the rest depends on what the account holds by then. */
export const EXPECTED = new Set([200, 201, 400, 404, 409, 429])

/** What a worker may do, as often as it stands here. All of it leaves an account about as large as it was. */
const STEPS = [
  ...Array(6).fill(() => (_, { key }) => ({ method: 'GET', path: '/api/v1/domains', key })),
  ...Array(4).fill(() => (_, { key }) => ({ method: 'GET', path: '/api/v1/dmarc', key })),
  ...Array(4).fill(() => (_, { key }) => ({ method: 'GET', path: '/api/v1/domaingroups', key })),
  ...Array(4).fill(() => (random, { key }) => ({
    method: choose(random, ['POST', 'DELETE']),
    path: '/api/v1/domains',
    key,
    body: { domains: [`soak-${Math.floor(random() * 20)}.example`] },
  })),
  ...Array(2).fill(() => (random, { key }) => ({
    method: 'POST',
    path: '/api/v1/domaingroups',
    key,
    body: { name: `Group ${Math.floor(random() * 20)}`, domains: [] },
  })),
  () =>
    (_, { key }) => ({ method: 'POST', path: '/api/v1/domains', key, body: { domains: 'wrong' } }),
  () => (random) => ({ method: 'GET', path: '/api/v1/domains', key: `sandbox_${Math.floor(random() * SANDBOXES)}` }),
  () =>
    (random, { id }) =>
      control('POST', id, '/faults', {
        ...choose(random, [{ respond: { error: 'rate_limited' } }, { delay_ms: 5 }, { corrupt: 'extra-field' }]),
        times: 2,
      }),
  () =>
    (_, { id }) =>
      control('DELETE', id, '/faults'),
  () =>
    (_, { id }) =>
      control('POST', id, '/snapshots', { name: 'soak', replace: true }),
  () =>
    (_, { id }) =>
      control('POST', id, '/snapshots/soak/restore'),
  () =>
    (_, { id }) =>
      control('PATCH', id, '/clock', { advance: 'PT1H' }),
  () =>
    (_, { id }) =>
      control('POST', id, '/reset'),
  () =>
    (_, { id }) =>
      control('GET', id, '/requests'),
  () =>
    (_, { id }) =>
      control('GET', id, '/coverage'),
  () =>
    (_, { id }) =>
      control('GET', id, '/state'),
  () =>
    (random, { id }) =>
      control('POST', id, '/keys', { key: `soak-more-${id}-${Math.floor(random() * 3)}` }),
].map((make) => make())

/** A request that one of the workers may send now. */
export function chooseStep(random, accounts) {
  return choose(random, STEPS)(random, choose(random, accounts))
}

function control(method, id, path, body) {
  return { method, path: `/__admin/accounts/${id}${path}`, body }
}

/** Resolves to the status of the answer, or to what went wrong. */
export function exchange(agent, port, { method, path, body, key }) {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  }
  return new Promise((resolve) => {
    const request = httpRequest({ agent, port, host: '127.0.0.1', method, path, headers }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode))
      response.once('error', () => resolve('an error'))
    })
    request.once('error', (error) => resolve(error.code))
    request.end(text)
  })
}

/** Reads the events of an account until the server ends. */
export function listen(port, account) {
  const path = account === undefined ? '/__admin/events' : `/__admin/accounts/${account}/events`
  const request = httpRequest({ port, host: '127.0.0.1', path }, (response) => {
    response.on('error', () => {})
    response.resume()
  })
  request.on('error', () => {})
  request.end()
}

function choose(random, list) {
  return list[Math.floor(random() * list.length)]
}

/** A sequence of numbers from 0 to 1 that depends on the seed alone (mulberry32). */
export function createRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
