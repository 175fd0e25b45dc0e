import { KEYLESS, MOST_DOMAINS, type Probe, type ProbeRequest, type ProbeScene } from './probe.ts'

const PATH = '/domains'

const add = (domains: unknown, more: Partial<ProbeRequest> = {}): ProbeRequest => ({
  method: 'POST',
  path: PATH,
  body: { domains },
  ...more,
})
const remove = (domains: unknown, more: Partial<ProbeRequest> = {}): ProbeRequest => ({
  method: 'DELETE',
  path: PATH,
  body: { domains },
  ...more,
})
const LIST: ProbeRequest = { method: 'GET', path: PATH }

/** An entry that may not be a hostname. Each has its own request, because one refusal hides another. */
function hostname(id: string, nameFor: (scene: ProbeScene) => string): Probe {
  return { id: `hostname-${id}`, requests: (scene) => [add([nameFor(scene)])] }
}

/** Such as `verify-x1-7` of `verify-x1-7.example`. */
function labelOf(scene: ProbeScene): string {
  return scene.freshDomain().split('.')[0] ?? ''
}

const HOSTNAMES: readonly Probe[] = [
  hostname('with-final-dot', (scene) => `${scene.freshDomain()}.`),
  hostname('international', (scene) => `m\u00fcnchen.${scene.freshDomain()}`),
  hostname('with-underscore', (scene) => `_dmarc.${scene.freshDomain()}`),
  hostname('of-one-label', labelOf),
  hostname('ipv4', ({ mark }) => addressOf(mark)),
  hostname('with-number-at-end', (scene) => `${labelOf(scene)}.123`),
  hostname('with-wildcard', (scene) => `*.${scene.freshDomain()}`),
  // Each name directly below `ck` is a public suffix, by the rule `*.ck` of the Public Suffix List.
  hostname('public-suffix', (scene) => `${labelOf(scene)}.ck`),
  hostname('with-space', (scene) => ` ${scene.freshDomain()}`),
  hostname('with-invisible', (scene) => `\u00ada.${scene.freshDomain()}`),
  hostname('none', ({ mark }) => `${mark} no host`),
  hostname('with-empty-label', (scene) => `a..${scene.freshDomain()}`),
  hostname('with-hyphen-first', (scene) => `-a.${scene.freshDomain()}`),
  hostname('with-long-label', (scene) => `${'a'.repeat(64)}.${scene.freshDomain()}`),
  hostname('of-a-page', (scene) => `https://${scene.freshDomain()}/`),
  {
    id: 'hostname-forms',
    requests: (scene) => [
      add(['9', 'a.b', 'a'.repeat(63), 'xn--mnchen-3ya'].map((prefix) => `${prefix}.${scene.freshDomain()}`)),
    ],
  },
]

/** An address from a documentation range (RFC 5737) that depends on the run. */
function addressOf(mark: string): string {
  let sum = 0
  for (const letter of mark) sum = (sum * 31 + letter.charCodeAt(0)) % 254
  return `192.0.2.${sum + 1}`
}

/** The probes about domains. All names have the mark of the run, or no other client has asked for them before. */
export const DOMAIN_PROBES: readonly Probe[] = [
  {
    id: 'add-three',
    requests: (scene) => {
      const [one, two, three] = [scene.freshDomain(), scene.freshDomain(), scene.freshDomain()]
      return [add([three, one.toUpperCase(), two]), LIST, { method: 'GET', path: '/dmarc' }]
    },
  },
  { id: 'add-twice', requests: (scene) => [add(Array(2).fill(scene.freshDomain()))] },
  { id: 'add-twice-in-other-case', requests: (scene) => [add(twice(scene.freshDomain()))] },
  { id: 'add-monitored', domains: 1, requests: ({ domains }) => [add(domains)] },
  { id: 'add-mixed', domains: 1, requests: (scene) => [add([scene.freshDomain(), ...scene.domains])] },
  ...HOSTNAMES,
  { id: 'add-50', requests: (scene) => [add(Array.from({ length: MOST_DOMAINS }, scene.freshDomain))] },
  { id: 'add-51', requests: (scene) => [add(Array.from({ length: MOST_DOMAINS + 1 }, scene.freshDomain))] },
  { id: 'add-none', requests: () => [add([])] },
  { id: 'add-without-field', requests: () => [{ method: 'POST', path: PATH, body: {} }] },
  { id: 'add-text', requests: (scene) => [add(scene.freshDomain())] },
  { id: 'add-list', requests: (scene) => [{ method: 'POST', path: PATH, body: [scene.freshDomain()] }] },
  { id: 'add-number', requests: () => [add([5])] },
  {
    id: 'add-with-unknown-field',
    requests: (scene) => [{ method: 'POST', path: PATH, body: { domains: [scene.freshDomain()], unsupported: true } }],
  },
  ...KEYLESS.flatMap(({ key, how }): Probe[] => [
    { id: `add-${how}`, requests: (scene) => [add([scene.freshDomain()], { key })] },
    { id: `remove-${how}`, domains: 1, requests: ({ domains }) => [remove(domains, { key })] },
  ]),
  { id: 'add-empty-body', requests: () => [{ method: 'POST', path: PATH, body: '' }] },
  { id: 'add-cut-body', requests: () => [{ method: 'POST', path: PATH, body: '{' }] },
  // 101 domains, independent of the former state.
  {
    id: 'domains-101',
    domains: MOST_DOMAINS + 1,
    requests: (scene) => [add(Array.from({ length: MOST_DOMAINS }, scene.freshDomain))],
  },
  {
    id: 'remove-two',
    domains: 2,
    requests: ({ domains: [one, two] }) => [remove([two, one]), LIST],
  },
  { id: 'remove-mixed', domains: 1, requests: (scene) => [remove([...scene.domains, scene.freshDomain()])] },
  { id: 'remove-unmonitored', requests: (scene) => [remove([scene.freshDomain()])] },
  { id: 'remove-twice', domains: 1, requests: ({ domains: [one = ''] }) => [remove(twice(one))] },
  { id: 'remove-no-hostname', requests: ({ mark }) => [remove([`${mark} no host`])] },
  { id: 'remove-none', requests: () => [remove([])] },
  { id: 'remove-number', requests: () => [remove([5])] },
  {
    id: 'remove-with-unknown-field',
    requests: (scene) => [
      { method: 'DELETE', path: PATH, body: { domains: [scene.freshDomain()], unsupported: true } },
    ],
  },
  { id: 'remove-without-field', endangers: 'domains', requests: () => [{ method: 'DELETE', path: PATH, body: {} }] },
  { id: 'remove-51', domains: MOST_DOMAINS + 1, requests: ({ domains }) => [remove(domains)] },
  {
    id: 'remove-member',
    groups: [1],
    requests: ({ groups: [group] }) => [
      remove(group?.domains.slice(0, 1)),
      { method: 'GET', path: `/domaingroups?id=${encodeURIComponent(group?.id ?? '')}` },
    ],
  },
]

function twice(name: string): string[] {
  return [name, name.toUpperCase()]
}
