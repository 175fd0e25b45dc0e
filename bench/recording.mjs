// A recording of a client of the service, as a HAR file: what `check` and `calibrate` are measured with.
import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'

const AGENT = new Agent({ keepAlive: true, maxSockets: 1 })

/** Numbers from 0 to 1 that are the same in each run. */
function createRandom(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/**
 * A client that reads, adds, changes and removes, one request after the other, and now and then is refused. It keeps the
 * account small, so that a long session asks no more of a judge for each request than a short one.
 */
class Client {
  #domains = []
  #groups = []
  #made = 0
  #random

  constructor(seed) {
    this.#random = createRandom(seed)
  }

  /** The next request: method, path, body, and what to learn of its answer. */
  next() {
    const moves = [
      [8, () => ({ method: 'GET', path: '/domains' })],
      [5, () => ({ method: 'GET', path: '/dmarc' })],
      [10, () => ({ method: 'GET', path: '/domaingroups' })],
      [12, () => ({ method: 'GET', path: `/domaingroups?id=${this.#group()}` })],
      [this.#domains.length < 20 ? 14 : 0, () => this.#addDomains()],
      [this.#domains.length > 5 ? 9 : 0, () => this.#removeDomain()],
      [this.#groups.length < 12 ? 12 : 0, () => this.#createGroup()],
      [this.#groups.length > 0 ? 16 : 0, () => this.#changeGroup()],
      [this.#groups.length > 3 ? 9 : 0, () => this.#removeGroup()],
      [12, () => this.#refused()],
    ]
    return this.#pick(moves.flatMap(([weight, make]) => Array.from({ length: weight }, () => make)))()
  }

  #addDomains() {
    const domains = Array.from({ length: 1 + this.#below(3) }, () => `shop-${++this.#made}.example`)
    return { method: 'POST', path: '/domains', body: { domains }, learn: () => this.#domains.push(...domains) }
  }

  #removeDomain() {
    const domain = this.#pick(this.#domains)
    const learn = () => this.#domains.splice(this.#domains.indexOf(domain), 1)
    return { method: 'DELETE', path: '/domains', body: { domains: [domain] }, learn }
  }

  #createGroup() {
    const body = { name: `Team ${++this.#made}`, ...(this.#below(3) > 0 && { domains: this.#members() }) }
    return { method: 'POST', path: '/domaingroups', body, learn: ({ group }) => this.#groups.push(group.id) }
  }

  #changeGroup() {
    const body = this.#pick([
      () => ({ name: `Team ${++this.#made}` }),
      () => ({ domains: this.#members() }),
      () => ({ add_domains: this.#members() }),
      () => ({ remove_domains: this.#members() }),
    ])()
    return { method: 'PATCH', path: `/domaingroups?id=${this.#group()}`, body }
  }

  #removeGroup() {
    const id = this.#group()
    return {
      method: 'DELETE',
      path: `/domaingroups?id=${id}`,
      learn: () => this.#groups.splice(this.#groups.indexOf(id), 1),
    }
  }

  #refused() {
    return this.#pick([
      { method: 'GET', path: '/domaingroups?id=unknown1' },
      { method: 'GET', path: '/nothing' },
      { method: 'POST', path: '/domains', body: { domains: ['no_host'] } },
      { method: 'POST', path: '/domains', body: { domains: this.#domains.slice(0, 1) } },
      { method: 'POST', path: '/domains', body: { domain: 'one.example' } },
      { method: 'POST', path: '/domaingroups', body: { name: '' } },
      { method: 'POST', path: '/domaingroups', body: { name: 'Partners', domains: ['other.example'] } },
      { method: 'PATCH', path: `/domaingroups?id=${this.#group()}`, body: {} },
      { method: 'DELETE', path: '/domaingroups' },
      { method: 'DELETE', path: '/domains', body: { domains: ['other.example'] } },
    ])
  }

  #members() {
    return this.#domains.filter(() => this.#random() < 0.3)
  }

  #group() {
    return this.#groups.length === 0 ? 'unknown1' : this.#pick(this.#groups)
  }

  #pick(list) {
    return list[this.#below(list.length)]
  }

  #below(limit) {
    return Math.floor(this.#random() * limit)
  }
}

/** After so many requests, which the quotas permit, a client begins anew with an account of its own. */
const SESSION = 60

/** Makes sessions with the service at a port, and writes the first exchanges of them to a file for each of the counts. */
export async function recordSessions(port, files) {
  let client
  const entries = []
  for (const { count, path } of files.toSorted((one, other) => one.count - other.count)) {
    while (entries.length < count) {
      const session = Math.floor(entries.length / SESSION)
      if (entries.length % SESSION === 0) client = new Client(session)
      const move = client.next()
      const url = `http://127.0.0.1:${port}/api/v1${move.path}`
      const { entry, answer } = await exchange(url, { ...move, key: `sandbox_client_${session}` })
      entries.push(entry)
      if (answer?.success) move.learn?.(answer.data)
    }
    const log = { version: '1.2', creator: { name: 'bench', version: '1' }, entries }
    writeFileSync(path, JSON.stringify({ log }))
  }
  AGENT.destroy()
}

function exchange(url, { method, body, key }) {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${key}`,
    ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  }
  const [started, began] = [new Date(), performance.now()]
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: AGENT, method, headers }, async (response) => {
      const content = Buffer.concat(await response.toArray()).toString()
      const entry = {
        startedDateTime: started.toISOString(),
        time: performance.now() - began,
        request: {
          ...{ method, url, httpVersion: 'HTTP/1.1', headers: fieldsOf(headers) },
          ...(text !== undefined && { postData: { mimeType: 'application/json', text } }),
        },
        response: {
          status: response.statusCode,
          headers: fieldsOf(response.headers),
          content: {
            mimeType: response.headers['content-type'] ?? '',
            size: Buffer.byteLength(content),
            text: content,
          },
        },
      }
      resolve({ entry, answer: content === '' ? undefined : JSON.parse(content) })
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

function fieldsOf(headers) {
  return Object.entries(headers).map(([name, value]) => ({ name, value: `${value}` }))
}
