// A recording of clients of the service, as a HAR file: what `check` and `calibrate` are measured with.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startUnderstudy } from '../dist/index.js'

/** After so many requests, which the quotas permit, a client begins anew with an account of its own. */
const SESSION = 60

/** Writes the first exchanges of the same sessions to a file for each of the counts. @returns The paths */
export async function recordSessions(folder, counts) {
  const service = await startUnderstudy({ fixture: 'empty', listen: false })
  const entries = []
  for (let session = 0; entries.length < Math.max(...counts); session++) {
    const client = new Client(session)
    for (let request = 0; request < SESSION; request++) {
      entries.push(await client.send(service, `sandbox_client_${session}`))
    }
  }
  await service.stop()
  return counts.map((count) => {
    const path = join(folder, `${count}.har`)
    const log = { version: '1.2', creator: { name: 'bench', version: '1' }, entries: entries.slice(0, count) }
    writeFileSync(path, JSON.stringify({ log }))
    return path
  })
}

/** Reads, adds, changes and removes, one request after the other, and now and then is refused. Its account stays small. */
class Client {
  #domains = []
  #groups = []
  #made = 0
  #state

  constructor(seed) {
    this.#state = seed + 1
  }

  /** Sends the next request. @returns The entry of the recording */
  async send({ fetch, baseUrl }, apiKey) {
    const { method = 'GET', path, body, learn } = this.#pick(this.#moves())()
    const url = baseUrl + path
    const text = JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(text !== undefined && { 'content-type': 'application/json' }),
    }
    const [started, began] = [new Date(), performance.now()]
    const response = await fetch(url, { method, headers, body: text })
    const content = await response.text()
    const answer = JSON.parse(content)
    if (answer.success) learn?.(answer.data)
    return {
      startedDateTime: started.toISOString(),
      time: performance.now() - began,
      request: {
        ...{ method, url, httpVersion: 'HTTP/1.1', headers: fieldsOf(Object.entries(headers)) },
        ...(text !== undefined && { postData: { mimeType: 'application/json', text } }),
      },
      response: {
        ...{ status: response.status, headers: fieldsOf(response.headers) },
        content: { mimeType: 'application/json', size: Buffer.byteLength(content), text: content },
      },
    }
  }

  #moves() {
    const group = `/domaingroups?id=${this.#groups.length === 0 ? 'unknown1' : this.#pick(this.#groups)}`
    const reads = ['/domains', '/dmarc', '/domaingroups', group].map((path) => () => ({ path }))
    const refused = [
      { path: '/domaingroups?id=unknown1' },
      { method: 'POST', path: '/domains', body: { domain: 'one.example' } },
      { method: 'POST', path: '/domains', body: { domains: ['no_host'] } },
      { method: 'POST', path: '/domaingroups', body: { name: '' } },
      { method: 'PATCH', path: group, body: {} },
    ].map((move) => () => move)
    return [
      ...[...reads, ...reads],
      this.#pick(refused),
      () => ({ method: 'PATCH', path: group, body: { name: `Team ${++this.#made}` } }),
      () => ({ method: 'PATCH', path: group, body: { domains: this.#members() } }),
      this.#domains.length < 20 ? () => this.#addDomains() : () => this.#removeDomain(),
      this.#groups.length < 12 ? () => this.#createGroup() : () => this.#removeGroup(),
    ]
  }

  #addDomains() {
    const domains = Array.from({ length: 3 }, () => `shop-${++this.#made}.example`)
    return { method: 'POST', path: '/domains', body: { domains }, learn: () => this.#domains.push(...domains) }
  }

  #removeDomain() {
    const learn = () => this.#domains.shift()
    return { method: 'DELETE', path: '/domains', body: { domains: this.#domains.slice(0, 1) }, learn }
  }

  #createGroup() {
    const body = { name: `Team ${++this.#made}`, domains: this.#members() }
    return { method: 'POST', path: '/domaingroups', body, learn: ({ group }) => this.#groups.push(group.id) }
  }

  #removeGroup() {
    return { method: 'DELETE', path: `/domaingroups?id=${this.#groups[0]}`, learn: () => this.#groups.shift() }
  }

  #members() {
    return this.#domains.filter(() => this.#random() < 0.3)
  }

  #pick(list) {
    return list[Math.floor(this.#random() * list.length)]
  }

  /** Numbers from 0 to 1 that are the same in each run. */
  #random() {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return this.#state / 2 ** 32
  }
}

function fieldsOf(entries) {
  return [...entries].map(([name, value]) => ({ name, value }))
}
