import type { Probe } from './probe.ts'
import {
  accepted,
  adding,
  ask,
  at,
  change,
  changing,
  comparing,
  create,
  creating,
  DOMAINS,
  first,
  fresh,
  GROUPS,
  get,
  keyless,
  MOST_DOMAINS,
  moving,
  named,
  open,
  post,
  reading,
  refused,
  remove,
  removeGroup,
  second,
} from './probe-rows.ts'

const KEYLESS_READ = 'status-unauthorized www-authenticate quota-headers'

/** Probes that the first requests of a run answer. */
export const READ_GROUPS = reading(
  'read-groups',
  accepted('groups-with-count', 'rate-limit-reset quota-window request-id-format'),
  get(GROUPS),
)
export const READ_DOMAINS = reading('read-domains', accepted('all-domains-listed'), get(DOMAINS))

/** They need nothing of the run. Where the path does not matter, it is that with the largest quota. */
const READS: readonly Probe[] = [
  READ_GROUPS,
  READ_DOMAINS,
  // The run begins with a list. If the list after the records is the same, each domain must have a record.
  reading(
    'read-records',
    accepted('one-record-per-domain daily-refresh', 'decimals percentages'),
    get('/dmarc'),
    get(DOMAINS),
  ),
  ask('unknown-id', {}, refused('unknown-id-read', 'status-not-found charged-requests quota-headers'), (scene) => [
    get(GROUPS),
    get(at(scene.unknownId)),
  ]),
  ...keyless('read-groups', {}, KEYLESS_READ, (_, key) => get(GROUPS, key)),
  ...keyless('read-domains', {}, KEYLESS_READ, (_, key) => get(DOMAINS, key)),
  ...keyless('read-records', {}, KEYLESS_READ, (_, key) => get('/dmarc', key)),
  ...keyless('read-one', {}, KEYLESS_READ, ({ readableId }, key) => get(at(readableId), key)),
  reading('read-groups-with-longer-key', refused('key-required'), get(GROUPS, { key: 'longer' })),
  reading('scheme-in-lower-case', open('authorization-scheme'), get(GROUPS, { scheme: 'bearer' })),
  reading('other-scheme', open(), get(GROUPS, { scheme: 'Basic' })),
  reading('key-without-scheme', open(), get(GROUPS, { key: 'bare' })),
  ask('unknown-path', {}, open('status-unknown-path'), ({ mark }) => [get(`/${mark}`)]),
  ask('unknown-path-without-key', {}, open('routing'), ({ mark }) => [get(`/${mark}`, { key: 'none' })]),
  reading('other-path', open('path-matching'), get('/DomainGroups'), get(`${GROUPS}/`)),
  reading('unknown-parameter', open('unknown-query-parameters'), get(`${GROUPS}?page=1`)),
  // Figures that change with each of four reads are not refreshed once a day.
  reading('read-records-again', accepted('daily-refresh'), get('/dmarc'), get('/dmarc'), get('/dmarc')),
]

const ABOUT_DOMAINS: readonly Probe[] = [
  ask(
    'add-three',
    {},
    accepted(
      'valid-hostnames count-of-added all-domains-listed',
      'add-domains-status canonical-form domain-order record-order unprocessed-domains',
    ),
    (scene) => {
      const [one = '', two, three] = fresh(scene, 3)
      return [post({ domains: [three, one.toUpperCase(), two] }), get(DOMAINS), get('/dmarc')]
    },
  ),
  adding('add-twice', refused('no-duplicates', 'repeated-domains status-invalid-domain'), ({ freshDomain }) =>
    Array(2).fill(freshDomain()),
  ),
  adding('add-51', refused('at-most-50-domains', 'too-many-domains status-request-too-large'), (scene) =>
    fresh(scene, MOST_DOMAINS + 1),
  ),
  adding('hostname-none', refused('valid-hostnames', 'status-invalid-domain'), ({ mark }) => [`${mark} no host`]),
  adding('hostname-international', open('international-names'), (scene) => [`m\u00fcnchen.${scene.freshDomain()}`]),
  ask('add-monitored', { domains: 1 }, open('already-monitored'), ({ domains, freshDomain }) => [
    post({ domains }),
    post({ domains: [freshDomain(), ...domains] }),
    get(DOMAINS),
  ]),
  ask(
    'remove-two',
    { domains: 2 },
    accepted('deleted-domains-answered all-domains-listed', 'delete-domains-status'),
    ({ domains }) => [remove({ domains: domains.toReversed() }), get(DOMAINS)],
  ),
  ask('remove-unmonitored', {}, open('unmonitored-deletion status-domain-delete-failed'), (scene) => [
    remove({ domains: fresh(scene, 1) }),
  ]),
  ask('remove-member', { groups: [1] }, open('deletion-of-members'), (scene) => [
    remove({ domains: first(scene).domains.slice(0, 1) }),
    get(at(first(scene).id)),
  ]),
  ask('delete', { groups: [1] }, accepted('members-stay-monitored'), (scene) => [
    removeGroup(first(scene).id),
    get(DOMAINS),
  ]),
  adding('add-50', accepted('at-most-50-domains'), (scene) => fresh(scene, MOST_DOMAINS)),
  ...keyless('add', {}, '', (scene, key) => post({ domains: fresh(scene, 1) }, key)),
  ...keyless('remove', { domains: 1 }, '', ({ domains }, key) => remove({ domains }, key)),
  adding('hostname-forms', accepted('valid-hostnames'), ({ freshDomain }) =>
    ['9', 'a.b', 'a'.repeat(63), 'xn--mnchen-3ya'].map((prefix) => `${prefix}.${freshDomain()}`),
  ),
  // Whoever reads the hostname grammar (RFC 952, RFC 1123 §2.1) refuses these.
  ...(
    [
      ['with-long-label', (name) => `${'a'.repeat(64)}.${name}`],
      ['with-empty-label', (name) => `a..${name}`],
      ['with-hyphen-first', (name) => `-a.${name}`],
      ['of-a-page', (name) => `https://${name}/`],
    ] satisfies [how: string, nameFor: (name: string) => string][]
  ).map(([how, nameFor]) =>
    adding(`hostname-${how}`, refused('valid-hostnames'), ({ freshDomain }) => [nameFor(freshDomain())]),
  ),
  ask('add-without-field', {}, refused('', 'status-missing-field'), () => [post({})]),
  adding('add-number', refused('', 'status-invalid-field-type'), () => [5]),
  ask('add-with-unknown-field', {}, refused('', 'status-unknown-field'), (scene) => [
    post({ domains: fresh(scene, 1), unsupported: true }),
  ]),
  ask('add-cut-body', {}, refused('', 'status-invalid-json'), () => [post('{')]),
  ask('add-list', {}, refused('', 'status-invalid-request-body'), (scene) => [post(fresh(scene, 1))]),
  adding('add-none', open(), () => []),
  ask('remove-none', {}, open(), () => [remove({ domains: [] })]),
  ask('remove-number', {}, refused(), () => [remove({ domains: [5] })]),
  ask('remove-with-unknown-field', {}, refused(), (scene) => [remove({ domains: fresh(scene, 1), unsupported: true })]),
  ask('remove-without-field', { alone: 'domains' }, refused(), () => [remove({})]),
]

const MEMBERS: readonly Probe[] = [
  ask(
    'create-with-members',
    { groups: [0], domains: 3 },
    accepted(
      'members-monitored members-in-the-same-call groups-with-count',
      'create-group-status group-id-format group-order',
    ),
    // Its name sorts before that of the existing group, so the list shows its order.
    ({ domains: [one, two, three], mark }) => [create({ name: `${mark} 0`, domains: [three, one, two] }), get(GROUPS)],
  ),
  creating('create-with-unmonitored', {}, refused('members-monitored', 'status-not-monitored'), (scene) => {
    return { ...named(scene), domains: fresh(scene, 1) }
  }),
  changing('members-unmonitored', refused(), (scene) => ({ add_domains: fresh(scene, 1) })),
  moving(
    'members-added',
    { groups: [1], domains: 1 },
    accepted('additions-keep-members one-group-by-id', 'update-group-response'),
    ({ domains }) => ({ add_domains: domains }),
  ),
  moving('members-replaced', { groups: [1], domains: 1 }, accepted('domains-replace-members'), ({ domains }) => {
    return { domains }
  }),
  moving(
    'members-added-and-removed',
    { groups: [1], domains: 1 },
    accepted('additions-before-removals'),
    ({ domains }) => ({ add_domains: domains, remove_domains: domains }),
  ),
  changing('removals-unrecognised', accepted('unknown-removals-ignored'), (scene) => {
    return { remove_domains: fresh(scene, 1) }
  }),
  moving(
    'members-removed',
    { groups: [2] },
    accepted(),
    (scene) => ({ remove_domains: first(scene).domains.slice(0, 1) }),
    'all',
  ),
  moving(
    'members-shared',
    { groups: [0, 1] },
    open('shared-domains'),
    (scene) => ({ add_domains: second(scene).domains.slice(0, 1) }),
    'all',
  ),
  ask(
    'members-in-conflict',
    { groups: [0], domains: 1 },
    refused('no-mixed-changes', 'status-conflicting-fields'),
    (scene) => [change(first(scene).id, { domains: scene.domains, add_domains: scene.domains })],
  ),
  changing('members-added-none', open('empty-lists'), () => ({ add_domains: [] })),
  changing('members-none', open('empty-lists'), () => ({ domains: [] })),
  changing('members-no-hostnames', refused(), ({ mark }) => ({ add_domains: [`${mark} no host`] })),
  changing('removals-no-hostnames', open(), ({ mark }) => ({ remove_domains: [`${mark} no host`] })),
  ask('read-deleted', { groups: [0] }, refused('unknown-id-read', 'status-not-found'), (scene) => [
    removeGroup(first(scene).id),
    get(at(first(scene).id)),
  ]),
]

const IDS: readonly Probe[] = [
  // A service that applies it to all groups would remove a domain that no group has.
  ask('change-without-id', {}, refused('update-needs-id', 'status-missing-id'), (scene) => [
    { method: 'PATCH', path: GROUPS, body: { remove_domains: fresh(scene, 1) } },
  ]),
  ask('change-unknown-id', {}, refused('unknown-id-update', 'status-not-found'), (scene) => [
    change(scene.unknownId, named(scene)),
  ]),
  ask('delete-unknown-id', {}, refused('unknown-id-delete', 'status-not-found'), ({ unknownId }) => [
    removeGroup(unknownId),
  ]),
  ask('read-by-id', { groups: [0] }, accepted('one-group-by-id'), (scene) => [get(at(first(scene).id))]),
  ask('delete-without-id', { alone: 'groups' }, refused('delete-needs-id', 'status-missing-id'), () => [
    { method: 'DELETE', path: GROUPS },
  ]),
  ask('wrong-method', { groups: [0] }, open('status-wrong-method quota-headers'), (scene) => [
    { method: 'PUT', path: at(first(scene).id) },
  ]),
  ...keyless('create', {}, '', (scene, key) => create(named(scene), key)),
  ...keyless('change', { groups: [0] }, '', (scene, key) =>
    change(first(scene).id, { remove_domains: fresh(scene, 1) }, key),
  ),
  ...keyless('delete', { groups: [0] }, '', (scene, key) => removeGroup(first(scene).id, key)),
]

const NAMES: readonly Probe[] = [
  creating('create-with-taken-name', { groups: [0] }, refused('name-unique', 'status-duplicate-name'), (scene) => {
    return { name: first(scene).name }
  }),
  creating('create-with-taken-name-in-other-case', { groups: [0] }, refused('name-unique'), (scene) => {
    return { name: first(scene).name.toUpperCase() }
  }),
  creating('create-with-empty-name', { domains: 1 }, refused('name-length', 'status-invalid-name'), ({ domains }) => {
    return { name: '', domains }
  }),
  creating('create-with-name-of-100', {}, accepted('name-length'), ({ freshName }) => {
    return { name: freshName().padEnd(100, 'x') }
  }),
  creating('create-with-name-of-101', {}, refused('name-length'), ({ freshName }) => {
    return { name: freshName().padEnd(101, 'x') }
  }),
  // A service might store names in lower case, or break at an emoji. The other names of the run are in lower case.
  ask('create-with-emoji', {}, accepted(), ({ freshName }) => [
    create({ name: `${freshName()} In Two Cases \u00e9 \u{1f600}` }),
    get(GROUPS),
  ]),
  changing('name-of-100', accepted('new-name-unique'), ({ mark }) => ({ name: mark.padEnd(100, 'y') })),
  changing('name-of-101', refused('new-name-unique'), ({ mark }) => ({ name: mark.padEnd(101, 'y') })),
  comparing('name-taken', 'one', 'ONE', refused('new-name-unique', 'status-duplicate-name')),
  comparing('name-taken-in-other-letters', 'straße', 'STRASSE', open('name-comparison')),
  comparing('name-taken-with-umlaut', 'Äpfel', 'äPFEL', open('name-comparison')),
  changing('name-as-it-is', open(), (scene) => ({ name: first(scene).name })),
]

const BODIES: readonly Probe[] = [
  changing('body-empty', refused('', 'status-invalid-request-body'), () => ''),
  changing('body-cut', refused('', 'status-invalid-json'), () => '{'),
  changing('body-list', refused('', 'status-invalid-request-body'), ({ mark }) => [mark]),
  changing('body-without-fields', refused('update-needs-a-field', 'status-no-fields-to-update'), () => ({})),
  changing('body-with-unknown-field', refused('', 'status-unknown-field'), (scene) => ({
    ...named(scene),
    more: true,
  })),
  changing('name-of-wrong-type', refused('', 'status-invalid-field-type'), () => ({ name: 5 })),
  changing('members-of-wrong-type', refused('', 'status-invalid-field-type'), () => ({ domains: 'text' })),
  changing('null-field', open('null-fields'), (scene) => ({ ...named(scene), domains: null })),
  changing('body-of-other-type', open('content-type'), named, { headers: { 'content-type': 'text/plain' } }),
  // In bytes, beyond each limit that the stand-in knows.
  changing('body-of-65537', open('body-limit'), named, { padTo: 65_537 }),
  changing('body-of-102401', open('body-limit'), named, { padTo: 102_401 }),
  changing('body-of-1048577', open('body-limit status-request-too-large'), named, { padTo: 1_048_577 }),
  creating('create-without-name', { domains: 1 }, refused('', 'status-missing-field'), ({ domains }) => ({ domains })),
  creating('create-with-wrong-field', { domains: 1 }, refused('', 'status-unknown-field'), ({ domains }) => {
    return { domains, label: 'x' }
  }),
]

const EXHAUSTIONS: readonly Probe[] = ['dmarc', 'domains', 'domaingroups'].map((name) => ({
  ...reading(`exhaust-${name}`, refused(`${name}-limit`, 'status-rate-limited retry-after'), get(`/${name}`)),
  exhausts: true,
}))

/**
 * All probes in the order in which they are asked: the most telling first, because an hour allows few requests, and
 * last those that use up a quota. They change nothing but what the run has made.
 */
export const PROBES: readonly Probe[] = [READS, ABOUT_DOMAINS, MEMBERS, IDS, NAMES, BODIES, EXHAUSTIONS].flat()
