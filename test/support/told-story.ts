const NAMES = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta', 'iota', 'kappa']
/** The same in each process that is started with it. */
export const STORY_OPTIONS = ['--seed', '7', '--now', '2026-01-15T09:00:00Z', '--frozen', '--api-key', 'key_told.story']
/** Depend on the connection, and not on the service. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding'])

/** Comes from the clock of the machine, and not from that of the account, which is frozen. */
const OF_MACHINE = /^date: (?!Thu, 15 Jan 2026).*$|"date":"(?!Thu, 15 Jan 2026)[^"]*"|"duration_ms":[\d.]+/gm

type Step = readonly [method: string, path: string, body?: unknown]

/** What a client and its tests ask for: right and wrong requests, then a fault, and what the control plane tells. */
const STEPS: readonly Step[] = [
  ...NAMES.flatMap((name): Step[] => [
    ['POST', '/api/v1/domains', { domains: [`${name}.example`, `www.${name}.example`] }],
    ['GET', '/api/v1/domains'],
    ['POST', '/api/v1/domaingroups', { name, domains: [`${name}.example`] }],
    ['GET', '/api/v1/dmarc'],
  ]),
  ['GET', '/api/v1/domaingroups'],
  ['DELETE', '/api/v1/domains', { domains: ['beta.example', 'none.example'] }],
  ['POST', '/api/v1/domains', { domains: ['not a name', 1] }],
  ['POST', '/api/v1/domains', 'text'],
  ['GET', '/api/v1/nowhere'],
  ['PUT', '/api/v1/domains'],
  ['POST', '/__admin/accounts/default/fault-sets/flaky'],
  ...Array.from({ length: 8 }, (): Step => ['GET', '/api/v1/domains']),
  ...['verdict', 'coverage', 'accounts/default/state', 'accounts/default/requests', 'accounts/default/faults'].map(
    (path): Step => ['GET', `/__admin/${path}`],
  ),
]

/**
 * Plays it to a server that was started with `STORY_OPTIONS`. Returns what came for each step: status, header and body,
 * without the address and without the times that the machine gives.
 */
export async function tellStory(baseUrl: string, token?: string): Promise<string[]> {
  const { origin, host } = new URL(baseUrl)
  const told: string[] = []
  for (const [method, path, body] of STEPS) {
    const key = path.startsWith('/__admin') ? token : 'key_told.story'
    const headers = { ...(key && { authorization: `Bearer ${key}` }), 'content-type': 'application/json' }
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await tellAnswer(origin + path, { method, headers, ...init })
    told.push(`${method} ${path}: ${answer.replaceAll(host, 'ADDRESS').replaceAll(OF_MACHINE, '')}`)
  }
  return told
}

async function tellAnswer(url: string, init: RequestInit): Promise<string> {
  try {
    const response = await fetch(url, init)
    const fields = [...response.headers].filter(([name]) => !OF_CONNECTION.has(name))
    return [response.status, ...fields.map((field) => field.join(': ')), '', await response.text()].join('\n')
  } catch (error) {
    const { cause } = error as Error
    return `no answer: ${(cause as NodeJS.ErrnoException | undefined)?.code ?? error}`
  }
}

/** The first step at which two servers have answered otherwise. */
export function firstDifference(one: readonly string[], other: readonly string[]): string | undefined {
  const index = one.findIndex((answer, each) => answer !== other[each])
  if (index < 0) return undefined
  const [left = '', right = ''] = [one[index], other[index]]
  const place = [...left].findIndex((character, each) => character !== right[each])
  const part = (answer: string) => answer.slice(Math.max(0, place - 60), place + 60)
  return `${left.slice(0, 60)}…: …${part(left)}… is not …${part(right)}…`
}

/** The groups of the account, with their domains. */
export async function groupsOf(baseUrl: string): Promise<string> {
  const response = await fetch(`${baseUrl}/domaingroups`, { headers: { authorization: 'Bearer key_told.story' } })
  return response.text()
}
