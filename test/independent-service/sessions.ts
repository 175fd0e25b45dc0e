/** What a client of the service asks, in the order in which it asks; it follows the ids that it is given. */
export interface Asking {
  (method: string, target: string, options?: AskOptions): Reply
  /** Lets time pass, in milliseconds. */
  wait(milliseconds: number): void
}

export interface AskOptions {
  body?: unknown
  /** The value of Authorization; `null` leaves it out. */
  authorization?: string | null
  headers?: Record<string, string>
}

interface Reply {
  status: number
  data: Record<string, unknown>
}

export type Session = (ask: Asking) => void

const HOUR = 3_600_000
/** The domains of the sessions belong to nobody. */
const NAMES = Array.from({ length: 60 }, (_, index) => `shop-${index}.example`)

function idOf({ data }: Reply): string {
  const group = data['group'] as { id?: unknown } | undefined
  return encodeURIComponent(String(group?.id ?? data['id'] ?? 'unknown'))
}

/** A group is made and then found in the list, as PATCH and POST need not say which it is. */
function makeGroup(ask: Asking, body: unknown): string {
  return idOf(ask('POST', '/domaingroups', { body }))
}

/** What a client does in a day: it looks, adds, sorts into groups, and cleans up. */
export const usualSession: Session = (ask) => {
  ask('GET', '/domains')
  ask('GET', '/domaingroups')
  ask('GET', '/dmarc')
  ask('POST', '/domains', { body: { domains: ['one.example', 'two.example', 'mail.three.example'] } })
  ask('GET', '/domains')
  ask('GET', '/dmarc')
  const shops = makeGroup(ask, { name: 'Shops', domains: ['one.example', 'two.example'] })
  const mail = makeGroup(ask, { name: 'Mail' })
  ask('GET', '/domaingroups')
  ask('GET', `/domaingroups?id=${shops}`)
  ask('PATCH', `/domaingroups?id=${mail}`, { body: { add_domains: ['mail.three.example'] } })
  ask('GET', `/domaingroups?id=${mail}`)
  ask('PATCH', `/domaingroups?id=${shops}`, { body: { name: 'Boutiques' } })
  ask('PATCH', `/domaingroups?id=${shops}`, { body: { remove_domains: ['two.example'] } })
  ask('GET', `/domaingroups?id=${shops}`)
  ask('GET', '/domaingroups')
  ask('GET', '/dmarc')
  ask('DELETE', `/domaingroups?id=${mail}`)
  ask('GET', '/domaingroups')
  ask('GET', '/domains')
  ask('DELETE', `/domaingroups?id=${shops}`)
  ask('DELETE', '/domains', { body: { domains: ['two.example'] } })
  ask('GET', '/domains')
}

function additions(ask: Asking) {
  const add = (...domains: unknown[]) => ask('POST', '/domains', { body: { domains } })
  add('one.example', 'two.example', 'three.example')
  ask('GET', '/domains')
  add('one.example')
  add('ONE.example')
  ask('GET', '/domains')
  add('twice.example', 'twice.example')
  for (const name of ['white space.example', 'empty..example', '-edge.example', `${'x'.repeat(64)}.example`]) add(name)
  add('https://page.example/')
  add('')
  add('good.example', 'bad name.example')
  ask('GET', '/domains')
  for (const name of ['with-hyphen.example', '9lives.example', 'a.b.c.d.example', 'UPPER.example']) add(name)
  add(`${'y'.repeat(63)}.example`)
  add('xn--bcher-kva.example')
  add('bücher.example')
  ask('GET', '/domains')
  ask.wait(HOUR)
  ask('POST', '/domains', { body: {} })
  ask('POST', '/domains', { body: { domains: 'one.example' } })
  ask('POST', '/domains', { body: { domains: [7] } })
  ask('POST', '/domains', { body: { domains: ['late.example'], colour: 'red' } })
  ask('POST', '/domains', { body: '{"domains":' })
  ask('POST', '/domains', { body: '["late.example"]' })
  ask('POST', '/domains')
  add(...NAMES.slice(0, 51))
  ask('GET', '/domains')
  add(...NAMES.slice(0, 50))
  ask('GET', '/domains')
  add()
  ask('DELETE', '/domains', { body: { domains: NAMES.slice(5, 50) } })
  ask('GET', '/domains')
  ask('DELETE', '/domains', { body: { domains: ['never.example'] } })
  ask('GET', '/domains')
  ask.wait(HOUR)
}

function groups(ask: Asking) {
  const create = (body: unknown) => makeGroup(ask, body)
  const change = (id: string, body: unknown) => {
    ask('PATCH', `/domaingroups?id=${id}`, { body })
    ask('GET', `/domaingroups?id=${id}`)
  }
  const first = create({ name: 'First', domains: ['one.example', 'two.example'] })
  const second = create({ name: 'Second' })
  ask('GET', '/domaingroups')
  for (const id of [first, second]) ask('GET', `/domaingroups?id=${id}`)
  create({ name: 'First' })
  create({ name: 'FIRST' })
  create({ name: 'Stray', domains: ['one.example', 'never.example'] })
  ask('GET', '/domaingroups')
  create({ name: '' })
  create({ name: 'n'.repeat(101) })
  const long = create({ name: 'm'.repeat(100) })
  const emoji = create({ name: 'Post 📮' })
  const accented = create({ name: 'Épicerie' })
  create({})
  create({ name: 7 })
  create({ name: 'Strange', colour: 'red' })
  ask('GET', '/domaingroups')
  change(second, { add_domains: ['three.example'] })
  change(second, { add_domains: ['one.example'], remove_domains: ['one.example'] })
  change(first, { domains: ['three.example'] })
  change(first, { remove_domains: ['never.example', 'two.example'] })
  change(first, { name: 'Renamed' })
  change(first, { name: 'Renamed again', add_domains: ['one.example'], remove_domains: ['three.example'] })
  change(first, { name: 'Second' })
  change(first, { name: 'n'.repeat(101) })
  change(first, { domains: ['one.example'], add_domains: ['two.example'] })
  change(first, { add_domains: ['never.example'] })
  change(first, {})
  change(second, { domains: [] })
  change(second, { add_domains: ['two.example', 'three.example'] })
  change(second, { remove_domains: ['three.example'] })
  ask('GET', '/domaingroups')
  ask('GET', '/domaingroups?id=no-such-group')
  ask('PATCH', '/domaingroups?id=no-such-group', { body: { name: 'Nobody' } })
  ask('DELETE', '/domaingroups?id=no-such-group')
  ask('PATCH', '/domaingroups', { body: { name: 'Nobody' } })
  ask('DELETE', '/domaingroups')
  ask('DELETE', '/domains', { body: { domains: ['two.example'] } })
  ask('GET', `/domaingroups?id=${second}`)
  ask('GET', '/domains')
  ask.wait(HOUR)
  for (const id of [first, second, long, emoji, accented]) ask('DELETE', `/domaingroups?id=${id}`)
  ask('GET', `/domaingroups?id=${first}`)
  ask('GET', '/domaingroups')
  ask('GET', '/domains')
}

const GOOD_KEY = 'Bearer key-of-the-account'

function keys(ask: Asking) {
  const strange = [null, 'Bearer another-key', 'Token key-of-the-account', 'key-of-the-account', `${GOOD_KEY}-longer`]
  for (const authorization of strange) {
    ask('GET', '/dmarc', { authorization })
    ask('GET', '/domains', { authorization })
    ask('GET', '/domaingroups', { authorization })
  }
  const group = makeGroup(ask, { name: 'Secret' })
  for (const authorization of [null, 'Bearer another-key']) {
    ask('GET', `/domaingroups?id=${group}`, { authorization })
    ask('POST', '/domains', { authorization, body: { domains: ['secret.example'] } })
    ask('DELETE', '/domains', { authorization, body: { domains: ['secret.example'] } })
    ask('POST', '/domaingroups', { authorization, body: { name: 'Open' } })
    ask('PATCH', `/domaingroups?id=${group}`, { authorization, body: { name: 'Opened' } })
    ask('DELETE', `/domaingroups?id=${group}`, { authorization })
  }
  ask('GET', '/domaingroups')
  ask('DELETE', `/domaingroups?id=${group}`)
  ask.wait(2 * HOUR)
}

function records(ask: Asking) {
  for (let reading = 0; reading < 3; reading++) ask('GET', '/dmarc')
  ask('GET', '/domains')
  ask.wait(HOUR)
}

function quotas(ask: Asking) {
  ask.wait(2 * HOUR)
  for (const [path, count] of [
    ['/dmarc', 13],
    ['/domains', 33],
    ['/domaingroups', 104],
  ] as const) {
    for (let request = 0; request < count; request++) ask('GET', path)
  }
  ask.wait(HOUR + 60_000)
  ask('GET', '/dmarc')
  ask('GET', '/domains')
  ask('GET', '/domaingroups')
}

/** The parts of the session below, each of which can be played alone. */
export const PARTS: readonly Session[] = [
  additions,
  (ask) => {
    ask('POST', '/domains', { body: { domains: ['one.example', 'two.example', 'three.example'] } })
    groups(ask)
  },
  keys,
  quotas,
]

/** Nearly all that the specification has a sentence about. */
export const thoroughSession: Session = (ask) => {
  ask('GET', '/domains')
  ask('GET', '/domaingroups')
  ask('GET', '/dmarc')
  additions(ask)
  records(ask)
  groups(ask)
  keys(ask)
  quotas(ask)
}
