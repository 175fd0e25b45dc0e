/** A small client of the service, as its developer would write it. Nothing in it knows of a stand-in. */

export interface DmarcRow {
  domain: string
  policy: string
  aligned: number
  messages: number
}

export interface Group {
  id: string
  name: string
  domains: string[]
}

export interface ClientOptions {
  baseUrl: string
  apiKey: string
  /** Waits; tests let the account's clock advance instead. */
  sleep?: (milliseconds: number) => Promise<unknown>
}

/** The service refused a request. */
class RefusedError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export class MonitoringClient {
  readonly #options: Required<ClientOptions>

  constructor(options: ClientOptions) {
    this.#options = { sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)), ...options }
  }

  async domains(): Promise<string[]> {
    return (await this.#request<{ domains: string[] }>('GET', '/domains')).domains
  }

  async addDomains(domains: string[]): Promise<void> {
    await this.#request('POST', '/domains', { domains })
  }

  /** Takes the fields that it knows and leaves the others alone, so that a new one breaks nothing. */
  async dmarc(): Promise<DmarcRow[]> {
    const rows = await this.#request<{ domain: string; p: string; dmarc: number; count: number }[]>('GET', '/dmarc')
    return rows.map(({ domain, p, dmarc, count }) => ({ domain, policy: p, aligned: dmarc, messages: count }))
  }

  async groups(): Promise<Group[]> {
    return (await this.#request<{ groups: Group[] }>('GET', '/domaingroups')).groups
  }

  async createGroup(name: string, domains: string[] = []): Promise<Group> {
    return (await this.#request<{ group: Group }>('POST', '/domaingroups', { name, domains })).group
  }

  /** Sends a request; one over the quota is sent again when the quota is full again. */
  async #request<Data>(method: string, path: string, body?: object): Promise<Data> {
    const { baseUrl, apiKey, sleep } = this.#options
    const response = await fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as
      | { success: true; data: Data }
      | { success: false; error: { code: string; message: string } }
    if (answer.success) return answer.data
    if (answer.error.code !== 'rate_limited') throw new RefusedError(answer.error.code, answer.error.message)
    // By the clock of the service, not by one's own.
    const now = Date.parse(response.headers.get('date') ?? '')
    await sleep(Number(response.headers.get('x-ratelimit-reset')) * 1000 - now)
    return this.#request(method, path, body)
  }
}

/** Sends a lost request once more, without a thought of what the first has done. */
export class HastyClient extends MonitoringClient {
  override createGroup(name: string, domains?: string[]): Promise<Group> {
    return super.createGroup(name, domains).catch((error) => {
      if (error instanceof RefusedError) throw error
      return super.createGroup(name, domains)
    })
  }
}

/** Looks before it creates again: the answer may be lost, and the group there all the same. */
export class CarefulClient extends MonitoringClient {
  override createGroup(name: string, domains?: string[]): Promise<Group> {
    return super.createGroup(name, domains).catch(async (error) => {
      if (error instanceof RefusedError) throw error
      const wanted = name.toLowerCase()
      const created = (await this.groups()).find((group) => group.name.toLowerCase() === wanted)
      return created ?? super.createGroup(name, domains)
    })
  }
}
