import type { DomainGroup } from '../domain/account.ts'
import { KEYLESS, type Probe, type ProbeRequest, type ProbeScene } from './probe.ts'

const PATH = '/domaingroups'

function at({ id }: DomainGroup): string {
  return `${PATH}?id=${encodeURIComponent(id)}`
}

function change(group: DomainGroup, body: unknown, more: Partial<ProbeRequest> = {}): ProbeRequest {
  return { method: 'PATCH', path: at(group), body, ...more }
}

const create = (body: unknown): ProbeRequest => ({ method: 'POST', path: PATH, body })
const NO_GROUP: DomainGroup = { id: '', name: '', domains: [] }
const first = ({ groups: [group = NO_GROUP] }: ProbeScene) => group
const second = ({ groups: [, group = NO_GROUP] }: ProbeScene) => group

/** A PATCH of a group of the run. However a service reads the body, it changes nothing else. */
function changing(id: string, bodyFor: (scene: ProbeScene) => unknown, more: Partial<ProbeRequest> = {}): Probe {
  return { id, groups: [0], requests: (scene) => [change(first(scene), bodyFor(scene), more)] }
}

/** The same with some domains, which can be members of the group. */
function changingMembers(id: string, domains: number, bodyFor: (scene: ProbeScene) => unknown): Probe {
  return { ...changing(id, bodyFor), domains }
}

/** The same with a name, which the response repeats. */
function renaming(id: string, nameFor: (scene: ProbeScene) => string): Probe {
  return changing(id, (scene) => ({ name: nameFor(scene) }))
}

/** Two names that may be equal: the second group gets one of them, then the first group gets the other. */
function comparing(id: string, one: string, other: string): Probe {
  return {
    id,
    groups: [0, 0],
    requests: (scene) => [
      change(second(scene), { name: `${one} ${scene.mark}` }),
      change(first(scene), { name: `${other} ${scene.mark}` }),
    ],
  }
}

function typed(type: string): Partial<ProbeRequest> {
  return { headers: { 'Content-Type': type } }
}

/** Body sizes in bytes, on both sides of each limit that the specification permits. */
const SIZES = [65_537, 102_401, 1_048_577]

/** The largest number of groups to which a plan may limit an account. */
const MOST_GROUPS = 20

/** Names that may be invalid. With {@link changing}, each can be tried without creating anything. */
const NAMES: readonly Probe[] = [
  renaming('name-empty', () => ''),
  renaming('name-of-space', () => ' '),
  renaming('name-invisible', () => '\u200b\u2060'),
  renaming('name-of-100', ({ mark }) => mark.padEnd(100, 'x')),
  renaming('name-of-101', ({ mark }) => mark.padEnd(101, 'x')),
  renaming('name-of-51-emoji', () => '😀'.repeat(51)),
  renaming('name-of-34-euro-signs', () => '€'.repeat(34)),
  renaming('name-with-space-around', ({ mark }) => ` ${mark} s `),
  renaming('name-with-control-character', ({ mark }) => `a\u0085b ${mark}`),
  renaming('name-with-nul', ({ mark }) => `a\u0000b ${mark}`),
  renaming('name-with-half-a-pair', ({ mark }) => `a\ud83d ${mark}`),
  renaming('name-with-invisible', ({ mark }) => `a\u200bb ${mark}`),
  renaming('name-as-it-is', (scene) => first(scene).name),
  comparing('name-taken', 'one', 'ONE'),
  comparing('name-taken-in-other-case', 'Äpfel', 'äPFEL'),
  comparing('name-taken-in-other-letters', 'straße', 'STRASSE'),
]

const BODIES: readonly Probe[] = [
  changing('body-empty', () => ''),
  changing('body-cut', () => '{'),
  changing('body-list', ({ mark }) => [mark]),
  changing('body-without-fields', () => ({})),
  changing('body-with-unknown-field', (scene) => ({ name: scene.freshName(), unsupported: true })),
  changing('name-of-wrong-type', () => ({ name: 5 })),
  changing('members-of-wrong-type', () => ({ domains: 'text' })),
  changing('null-field', (scene) => ({ name: scene.freshName(), domains: null })),
  changing('body-of-other-type', (scene) => ({ name: scene.freshName() }), typed('text/plain')),
  changing('body-with-coding', (scene) => ({ name: scene.freshName() }), { headers: { 'Content-Encoding': 'gzip' } }),
  changing('body-in-latin-1', (scene) => latin1(scene), typed('application/json; charset=iso-8859-1')),
  changing('byte-order-mark', (scene) => `\ufeff{"name":"${scene.freshName()}"}`),
  changing('field-twice', (scene) => `{"name":"${scene.freshName()}","name":"${scene.freshName()}"}`),
  ...SIZES.map((padTo) => changing(`body-of-${padTo}`, (scene) => ({ name: scene.freshName() }), { padTo })),
  { id: 'create-without-name', domains: 1, requests: ({ domains }) => [create({ domains })] },
  // It has a member that would identify it if the service created it.
  { id: 'create-with-wrong-field', domains: 1, requests: ({ domains }) => [create({ domains, label: 'x' })] },
]

function latin1(scene: ProbeScene): Buffer {
  return Buffer.from(`{"name":"Caf\u00e9 ${scene.freshName()}"}`, 'latin1')
}

/** Requests without an id. A service that applies them to all groups would remove a domain that no group has. */
const IDS: readonly Probe[] = [
  {
    id: 'change-without-id',
    requests: (scene) => [{ method: 'PATCH', path: PATH, body: { remove_domains: [scene.freshDomain()] } }],
  },
  {
    id: 'change-with-empty-id',
    requests: (scene) => [{ method: 'PATCH', path: `${PATH}?id=`, body: { remove_domains: [scene.freshDomain()] } }],
  },
  { id: 'change-without-id-and-body', requests: () => [{ method: 'PATCH', path: PATH, body: '' }] },
  { id: 'change-without-id-and-json', requests: () => [{ method: 'PATCH', path: PATH, body: '{' }] },
  { id: 'delete-without-id', endangers: 'groups', requests: () => [{ method: 'DELETE', path: PATH }] },
  { id: 'delete-with-empty-id', endangers: 'groups', requests: () => [{ method: 'DELETE', path: `${PATH}?id=` }] },
  {
    id: 'change-unknown-id',
    requests: ({ unknownId, freshName }) => [
      { method: 'PATCH', path: `${PATH}?id=${unknownId}`, body: { name: freshName() } },
    ],
  },
  { id: 'delete-unknown-id', requests: ({ unknownId }) => [{ method: 'DELETE', path: `${PATH}?id=${unknownId}` }] },
  { id: 'read-by-id', groups: [0], requests: (scene) => [{ method: 'GET', path: at(first(scene)) }] },
  {
    id: 'two-ids',
    groups: [0, 0],
    requests: (scene) => [{ method: 'GET', path: `${at(first(scene))}&id=${encodeURIComponent(second(scene).id)}` }],
  },
  { id: 'wrong-method', groups: [0], requests: (scene) => [{ method: 'PUT', path: at(first(scene)) }] },
  {
    id: 'preflight',
    groups: [0],
    requests: (scene) => [
      {
        method: 'OPTIONS',
        path: at(first(scene)),
        key: 'none',
        headers: { Origin: 'http://localhost:5173', 'Access-Control-Request-Method': 'GET' },
      },
    ],
  },
  ...KEYLESS.flatMap(({ key, how }): Probe[] => [
    { id: `read-one-${how}`, groups: [0], requests: (scene) => [{ method: 'GET', path: at(first(scene)), key }] },
    { id: `create-${how}`, requests: ({ freshName }) => [{ ...create({ name: freshName() }), key }] },
    changing(`change-${how}`, () => ({ add_domains: [] }), { key }),
    { id: `delete-${how}`, groups: [0], requests: (scene) => [{ method: 'DELETE', path: at(first(scene)), key }] },
  ]),
]

const MEMBERS: readonly Probe[] = [
  {
    id: 'create-with-members',
    groups: [0],
    domains: 3,
    // Its name sorts before that of the existing group, so the list shows its order.
    requests: ({ domains: [one, two, three], mark }) => [
      create({ name: `${mark} 0`, domains: [three, one, two] }),
      { method: 'GET', path: PATH },
    ],
  },
  {
    id: 'create-with-unmonitored',
    requests: (scene) => [create({ name: scene.freshName(), domains: [scene.freshDomain()] })],
  },
  // A service might store names in lower case. The other names of the run are in lower case already.
  { id: 'create-empty', requests: ({ freshName }) => [create({ name: `${freshName()} In Two Cases` })] },
  {
    id: 'create-with-taken-name',
    groups: [0],
    requests: (scene) => [create({ name: first(scene).name })],
  },
  {
    id: 'create-with-taken-name-in-other-case',
    groups: [0],
    requests: (scene) => [create({ name: first(scene).name.toUpperCase() })],
  },
  ...[100, 101].map((length) => ({
    id: `create-with-name-of-${length}`,
    requests: ({ freshName }: ProbeScene) => [create({ name: freshName().padEnd(length, 'x') })],
  })),
  // It has a member that would identify it if the service created it.
  { id: 'create-with-empty-name', domains: 1, requests: ({ domains }) => [create({ name: '', domains })] },
  { id: 'create-with-emoji', requests: ({ freshName }) => [create({ name: `${freshName()} é 😀` })] },
  changingMembers('members-twice', 1, (scene) => ({ domains: [scene.domains[0], scene.domains[0]?.toUpperCase()] })),
  changing('members-unmonitored', (scene) => ({ add_domains: [scene.freshDomain()] })),
  changingMembers('members-mixed', 1, (scene) => ({ add_domains: [scene.freshDomain(), ...scene.domains] })),
  changing('members-no-hostnames', ({ mark }) => ({ add_domains: [`${mark} no host`] })),
  changing('removals-unrecognised', (scene) => ({ remove_domains: [scene.freshDomain()] })),
  changing('removals-no-hostnames', ({ mark }) => ({ remove_domains: [`${mark} no host`] })),
  changing('members-added-none', () => ({ add_domains: [] })),
  changing('members-none', () => ({ domains: [] })),
  changingMembers('members-in-conflict', 1, (scene) => ({ domains: scene.domains, add_domains: scene.domains })),
  {
    ...changingMembers('members-added-and-removed', 1, ({ domains }) => ({
      add_domains: domains,
      remove_domains: domains,
    })),
    groups: [1],
  },
  changingMembers('change-of-three-fields', 1, (scene) => ({
    name: scene.freshName(),
    add_domains: scene.domains,
    remove_domains: [scene.freshDomain()],
  })),
  {
    id: 'members-added-then-removed',
    groups: [1],
    domains: 2,
    requests: (scene) => [
      change(first(scene), { add_domains: scene.domains }),
      change(first(scene), { remove_domains: scene.domains.slice(0, 1) }),
      { method: 'GET', path: at(first(scene)) },
    ],
  },
  {
    id: 'members-shared',
    groups: [1, 0],
    requests: (scene) => [
      change(second(scene), { add_domains: first(scene).domains.slice(0, 1) }),
      { method: 'GET', path: PATH },
    ],
  },
  changingMembers('members-51', 51, (scene) => ({ domains: scene.domains })),
  {
    id: 'groups-21',
    requests: ({ freshName }) => Array.from({ length: MOST_GROUPS + 1 }, () => create({ name: freshName() })),
  },
  {
    id: 'delete',
    groups: [1],
    requests: (scene) => [
      { method: 'DELETE', path: at(first(scene)) },
      { method: 'DELETE', path: at(first(scene)) },
      { method: 'GET', path: '/domains' },
    ],
  },
]

/** The probes about groups. They use only groups of the run. */
export const GROUP_PROBES: readonly Probe[] = [...MEMBERS, ...IDS, ...BODIES, ...NAMES]
