/** A request, the account that it meets, and the status of the answer. */
export interface OutcomeCase {
  name: string
  /** By default, a small one. */
  fixture?: string | object
  plan?: string
  /** Requests to the control plane before it, below the account's path. */
  before?: readonly (readonly [method: string, path: string, body: unknown])[]
  method: string
  /** Below the base URL; from the root of the host where it begins with `//`. */
  path: string
  body?: unknown
  headers?: Readonly<Record<string, string | null>>
  status: number
}

/** Names and texts in which characters mean something to a shell, to a program or to a reader's eye. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: the dollar means something to a shell.
export const ODD = '"\'`$(id)\\\n<script>*/ \u202eevil\u2069 \u{1f600} שלום ${x} %s {0} \\" \\\' #'

export const SMALL = {
  domains: [
    'one.example',
    { name: 'two.example', features: ['mta-sts'] },
    { name: 'three.example', record: { p: 'reject', dkim: 95.5 } },
  ],
  groups: [
    { id: 'aaaaaaaa', name: 'Marketing', domains: ['one.example', 'three.example'] },
    { id: 'bbbbbbbb', name: 'It’s "ours" <b>', domains: [] },
  ],
}
export const add = (...domains: string[]) => ({ method: 'POST', path: '/domains', body: { domains } })
export const remove = (...domains: string[]) => ({ method: 'DELETE', path: '/domains', body: { domains } })
export const create = (body: unknown) => ({ method: 'POST', path: '/domaingroups', body })
export const update = (body: unknown) => ({ method: 'PATCH', path: '/domaingroups?id=aaaaaaaa', body })
export const get = (path: string) => ({ method: 'GET', path })
const LIST = get('/domains')
const A = add('a.example')

export const OUTCOMES: readonly OutcomeCase[] = [
  { name: 'an addition', ...add('New.example', 'b.example'), status: 200 },
  { name: 'a removal', ...remove('three.example'), status: 200 },
  { name: 'a changed group', ...update({ add_domains: ['two.example'] }), status: 200 },
  { name: 'a list of domains', ...LIST, status: 200 },
  { name: 'one group', ...get('/domaingroups?id=aaaaaaaa'), status: 200 },
  { name: 'a HEAD', method: 'HEAD', path: '/domains', status: 200 },
  { name: 'an invalid domain', ...add('ok.example', 'no host'), status: 400 },
  { name: 'odd characters', ...create({ name: ODD }), status: 200 },
  { name: 'half a pair', ...create('{"name":"a\\ud83d"}'), status: 400 },
  { name: 'a prototype', ...create('{"name":"a","__proto__":{"a":1}}'), status: 400 },
  { name: 'a name that is taken', ...create({ name: 'MARKETING' }), status: 409 },
  { name: 'an unknown group', ...get('/domaingroups?id=zzzzzzzz'), status: 404 },
  { name: 'an unknown parameter', ...get("/domains?q=a%20b&x[]='1'{2}"), status: 200 },
  { name: 'no JSON', ...A, body: `{"domains": [${ODD}`, status: 400 },
  { name: 'numbers that JavaScript writes otherwise', ...A, body: '{"domains": [1.0, 1e400, "a"]}', status: 400 },
  { name: 'a NUL', ...A, body: 'a\0b', status: 400 },
  { name: 'no type', ...A, headers: { 'content-type': null }, status: 400 },
  { name: 'a quota', before: [['PATCH', '/quotas', { bucket: 'domains', remaining: 0 }]], ...LIST, status: 429 },
  { name: 'a plan', plan: 'below-stone', ...LIST, status: 403 },
  { name: 'a preference', ...LIST, headers: { prefer: 'code=rate_limited' }, status: 429 },
  { name: 'a simulated failure', ...add('fail-invalid-domain.understudy.test'), status: 400 },
  { name: 'a ready-made account', fixture: 'demo', ...get('/domaingroups'), status: 200 },
  { name: 'removals from a ready-made account', fixture: 'agency', ...remove('x.example'), status: 409 },
]
