import type { DomainGroup } from '../domain/account.ts'
import { MOST_ADDED } from '../judge/refusals.ts'
import type { Probe, ProbeRequest, ProbeScene } from './probe.ts'

type More = Partial<ProbeRequest>
type Outcome = Pick<Probe, 'expect' | 'rule' | 'decides'>

const GROUPS = '/domaingroups'
const DOMAINS = '/domains'

const words = (text: string) => text.split(' ').filter((word) => word !== '')
/** What the specification says, its rules, and the assumptions that it leaves open, with spaces between the ids. */
const accepted = (rules = '', decides = ''): Outcome => {
  return { expect: 'accepted', rule: words(rules), decides: words(decides) }
}
const refused = (rules = '', decides = ''): Outcome => {
  return { expect: 'refused', rule: words(rules), decides: words(decides) }
}
/** The specification leaves the answer open. */
const open = (decides = ''): Outcome => ({ decides: words(decides) })

const get = (path: string, more?: More): ProbeRequest => ({ method: 'GET', path, ...more })
const post = (body: unknown, more?: More): ProbeRequest => ({ method: 'POST', path: DOMAINS, body, ...more })
const add = (...domains: unknown[]) => post({ domains })
const remove = (body: unknown, more?: More): ProbeRequest => ({ method: 'DELETE', path: DOMAINS, body, ...more })
const create = (body: unknown, more?: More): ProbeRequest => ({ method: 'POST', path: GROUPS, body, ...more })
const at = (id: string) => `${GROUPS}?id=${encodeURIComponent(id)}`
const change = ({ id }: Pick<DomainGroup, 'id'>, body: unknown, more?: More): ProbeRequest => {
  return { method: 'PATCH', path: at(id), body, ...more }
}
const removeGroup = ({ id }: Pick<DomainGroup, 'id'>, more?: More): ProbeRequest => {
  return { method: 'DELETE', path: at(id), ...more }
}
const times = <Item>(count: number, make: () => Item): Item[] => Array.from({ length: count }, make)

const ask = (id: string, outcome: Outcome, send: Probe['send']): Probe => ({ id, send, ...outcome })
/** It needs nothing, and only reads. */
const reading = (id: string, outcome: Outcome, ...requests: ProbeRequest[]): Probe => ask(id, outcome, () => requests)
/** A PATCH of a group of the run. However a service reads the body, it changes nothing else. */
const changing = (id: string, outcome: Outcome, bodyFor: (scene: ProbeScene) => unknown, more?: More): Probe =>
  ask(id, outcome, (scene) => change(scene.group(), bodyFor(scene), more))
/** A PATCH of the members, and then the group, or all groups. */
const moving = (
  id: string,
  outcome: Outcome,
  members: number,
  bodyFor: (scene: ProbeScene, group: DomainGroup) => unknown,
  listed?: 'all',
): Probe =>
  ask(id, outcome, (scene) => {
    const group = scene.group(members)
    return [change(group, bodyFor(scene, group)), get(listed === 'all' ? GROUPS : at(group.id))]
  })
/** Two names that may be equal: one group gets one of them, then another group gets the other. */
const comparing = (id: string, one: string, other: string, outcome: Outcome): Probe =>
  ask(id, outcome, ({ group, mark }) => {
    const second = group()
    return [change(group(), { name: `${one} ${mark}` }), change(second, { name: `${other} ${mark}` })]
  })
/** The same request with no valid key. */
const keyless = (id: string, decides: string, send: (scene: ProbeScene, more: More) => ProbeRequest): Probe[] =>
  (['none', 'wrong'] as const).map((key) => {
    const how = key === 'none' ? 'without-key' : 'with-wrong-key'
    return ask(`${id}-${how}`, refused('key-required', decides), (scene) => send(scene, { key }))
  })

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
  ask('unknown-id', refused('unknown-id-read', 'status-not-found charged-requests quota-headers'), ({ mark }) => [
    get(GROUPS),
    get(at(mark)),
  ]),
  ...keyless('read-groups', KEYLESS_READ, (_, key) => get(GROUPS, key)),
  ...keyless('read-domains', KEYLESS_READ, (_, key) => get(DOMAINS, key)),
  ...keyless('read-records', KEYLESS_READ, (_, key) => get('/dmarc', key)),
  ...keyless('read-one', KEYLESS_READ, ({ readableId }, key) => get(at(readableId), key)),
  reading('read-groups-with-longer-key', refused('key-required'), get(GROUPS, { key: 'longer' })),
  reading('scheme-in-lower-case', open('authorization-scheme'), get(GROUPS, { scheme: 'bearer' })),
  reading('other-scheme', open(), get(GROUPS, { scheme: 'Basic' })),
  reading('key-without-scheme', open(), get(GROUPS, { key: 'bare' })),
  ask('unknown-path', open('status-unknown-path'), ({ mark }) => get(`/${mark}`)),
  ask('unknown-path-without-key', open('routing'), ({ mark }) => get(`/${mark}`, { key: 'none' })),
  reading('other-path', open('path-matching'), get('/DomainGroups'), get(`${GROUPS}/`)),
  reading('unknown-parameter', open('unknown-query-parameters'), get(`${GROUPS}?page=1`)),
  // Figures that change with each of four reads are not refreshed once a day.
  reading('read-records-again', accepted('daily-refresh'), ...times(3, () => get('/dmarc'))),
]

const ABOUT_DOMAINS: readonly Probe[] = [
  ask(
    'add-three',
    accepted(
      'valid-hostnames count-of-added all-domains-listed',
      'add-domains-status canonical-form domain-order record-order unprocessed-domains',
    ),
    ({ fresh }) => {
      const [one = '', two, three] = times(3, fresh)
      return [add(three, one.toUpperCase(), two), get(DOMAINS), get('/dmarc')]
    },
  ),
  ask('add-twice', refused('no-duplicates', 'repeated-domains status-invalid-domain'), ({ fresh }) =>
    add(...Array(2).fill(fresh())),
  ),
  ask('add-51', refused('at-most-50-domains', 'too-many-domains status-request-too-large'), ({ fresh }) =>
    add(...times(MOST_ADDED + 1, fresh)),
  ),
  // Each invalid name has its own request, because one refusal hides another.
  ask('hostname-none', refused('valid-hostnames', 'status-invalid-domain'), ({ mark }) => add(`${mark} no host`)),
  ask('hostname-international', open('international-names'), ({ fresh }) => add(`m\u00fcnchen.${fresh()}`)),
  ask('add-monitored', open('already-monitored'), ({ own, fresh }) => {
    const monitored = own()
    return [add(monitored), add(fresh(), monitored), get(DOMAINS)]
  }),
  ask('remove-two', accepted('deleted-domains-answered all-domains-listed', 'delete-domains-status'), ({ own }) => [
    remove({ domains: times(2, own).toReversed() }),
    get(DOMAINS),
  ]),
  ask('remove-unmonitored', open('unmonitored-deletion status-domain-delete-failed'), ({ fresh }) =>
    remove({ domains: [fresh()] }),
  ),
  ask('remove-member', open('deletion-of-members'), ({ group }) => {
    const { id, domains } = group(1)
    return [remove({ domains: domains.slice(0, 1) }), get(at(id))]
  }),
  ask('delete', accepted('members-stay-monitored'), ({ group }) => [removeGroup(group(1)), get(DOMAINS)]),
  ask('add-50', accepted('at-most-50-domains'), ({ fresh }) => add(...times(MOST_ADDED, fresh))),
  ...keyless('add', '', ({ fresh }, key) => post({ domains: [fresh()] }, key)),
  ...keyless('remove', '', ({ own }, key) => remove({ domains: [own()] }, key)),
  ask('hostname-forms', accepted('valid-hostnames'), ({ fresh }) =>
    add(...['9', 'a.b', 'a'.repeat(63), 'xn--mnchen-3ya'].map((prefix) => `${prefix}.${fresh()}`)),
  ),
  // Whoever reads the hostname grammar (RFC 952, RFC 1123 §2.1) refuses these.
  ...Object.entries({
    'with-long-label': `${'a'.repeat(64)}.NAME`,
    'with-empty-label': 'a..NAME',
    'with-hyphen-first': '-a.NAME',
    'of-a-page': 'https://NAME/',
  }).map(([how, form]) =>
    ask(`hostname-${how}`, refused('valid-hostnames'), ({ fresh }) => add(form.replace('NAME', fresh()))),
  ),
  ask('add-without-field', refused('', 'status-missing-field'), () => post({})),
  // A service that takes it adds a name of the run.
  ask('add-text', refused('', 'status-invalid-field-type'), ({ fresh }) => post({ domains: fresh() })),
  ask('add-with-unknown-field', refused('', 'status-unknown-field'), ({ fresh }) =>
    post({ domains: [fresh()], unsupported: true }),
  ),
  ask('add-cut-body', refused('', 'status-invalid-json'), () => post('{')),
  ask('add-list', refused('', 'status-invalid-request-body'), ({ fresh }) => post([fresh()])),
  ask('add-none', open(), () => add()),
  ask('remove-none', open(), () => remove({ domains: [] })),
  ask('remove-number', refused(), () => remove({ domains: [5] })),
  ask('remove-with-unknown-field', refused(), ({ fresh }) => remove({ domains: [fresh()], unsupported: true })),
  { ...ask('remove-without-field', refused(), () => remove({})), alone: 'domains' },
]

const MEMBERS: readonly Probe[] = [
  ask(
    'create-with-members',
    accepted(
      'members-monitored members-in-the-same-call groups-with-count',
      'create-group-status group-id-format group-order',
    ),
    // Its name sorts before that of the existing group, so the list shows its order.
    ({ own, group, mark }) => {
      group()
      const [one, two, three] = times(3, own)
      return [create({ name: `${mark} 0`, domains: [three, one, two] }), get(GROUPS)]
    },
  ),
  ask('create-with-unmonitored', refused('members-monitored', 'status-not-monitored'), ({ name, fresh }) =>
    create({ name: name(), domains: [fresh()] }),
  ),
  // A service might make the group with those that are monitored.
  ask('create-with-one-unmonitored', refused('members-monitored'), ({ name, own, fresh }) =>
    create({ name: name(), domains: [own(), fresh()] }),
  ),
  changing('members-unmonitored', refused('members-monitored'), ({ fresh }) => ({ add_domains: [fresh()] })),
  changing('members-replaced-by-unmonitored', refused('members-monitored'), ({ fresh }) => ({ domains: [fresh()] })),
  moving(
    'members-added',
    accepted('additions-keep-members one-group-by-id', 'update-group-response'),
    1,
    ({ own }) => ({ add_domains: [own()] }),
  ),
  moving('members-added-again', open(), 1, (_, { domains }) => ({ add_domains: domains })),
  moving('members-replaced', accepted('domains-replace-members'), 1, ({ own }) => ({ domains: [own()] })),
  moving('members-added-and-removed', accepted('additions-before-removals'), 1, ({ own }) => {
    const domains = [own()]
    return { add_domains: domains, remove_domains: domains }
  }),
  changing('removals-unrecognised', accepted('unknown-removals-ignored'), ({ fresh }) => ({
    remove_domains: [fresh()],
  })),
  moving('members-removed', accepted(), 2, (_, { domains }) => ({ remove_domains: domains.slice(0, 1) }), 'all'),
  moving(
    'members-shared',
    open('shared-domains'),
    0,
    ({ group }) => ({ add_domains: group(1).domains.slice(0, 1) }),
    'all',
  ),
  changing('members-in-conflict', refused('no-mixed-changes', 'status-conflicting-fields'), ({ own }) => {
    const domains = [own()]
    return { domains, add_domains: domains }
  }),
  changing('removals-in-conflict', refused('no-mixed-changes'), ({ own }) => {
    const domains = [own()]
    return { domains, remove_domains: domains }
  }),
  changing('members-added-none', open('empty-lists'), () => ({ add_domains: [] })),
  changing('members-none', open('empty-lists'), () => ({ domains: [] })),
  changing('members-no-hostnames', refused(), ({ mark }) => ({ add_domains: [`${mark} no host`] })),
  changing('removals-no-hostnames', open(), ({ mark }) => ({ remove_domains: [`${mark} no host`] })),
  ask('read-deleted', refused('unknown-id-read', 'status-not-found'), ({ group }) => {
    const deleted = group()
    return [removeGroup(deleted), get(at(deleted.id))]
  }),
]

const IDS: readonly Probe[] = [
  // A service that applies it to all groups would remove a domain that no group has.
  ask('change-without-id', refused('update-needs-id', 'status-missing-id'), ({ fresh }) => {
    return { method: 'PATCH', path: GROUPS, body: { remove_domains: [fresh()] } }
  }),
  ask('change-unknown-id', refused('unknown-id-update', 'status-not-found'), ({ mark, name }) =>
    change({ id: mark }, { name: name() }),
  ),
  ask('delete-unknown-id', refused('unknown-id-delete', 'status-not-found'), ({ mark }) => removeGroup({ id: mark })),
  ask('read-by-id', accepted('one-group-by-id'), ({ group }) => get(at(group().id))),
  {
    ...ask('delete-without-id', refused('delete-needs-id', 'status-missing-id'), () => {
      return { method: 'DELETE', path: GROUPS }
    }),
    alone: 'groups',
  },
  ask('wrong-method', open('status-wrong-method quota-headers'), ({ group }) => {
    return { method: 'PUT', path: at(group().id) }
  }),
  ...keyless('create', '', ({ name }, key) => create({ name: name() }, key)),
  ...keyless('change', '', ({ group, fresh }, key) => change(group(), { remove_domains: [fresh()] }, key)),
  ...keyless('delete', '', ({ group }, key) => removeGroup(group(), key)),
]

/** A created group can be found if it should not exist: its name, or all its members, are the run's. */
const NAMES: readonly Probe[] = [
  ask('create-with-taken-name', refused('name-unique', 'status-duplicate-name'), ({ group }) =>
    create({ name: group().name }),
  ),
  ask('create-with-taken-name-in-other-case', refused('name-unique'), ({ group }) =>
    create({ name: group().name.toUpperCase() }),
  ),
  ask('create-with-empty-name', refused('name-length', 'status-invalid-name'), ({ own }) =>
    create({ name: '', domains: [own()] }),
  ),
  changing('name-empty', refused('name-length'), () => ({ name: '' })),
  ask('create-with-name-of-100', accepted('name-length'), ({ name }) => create({ name: name().padEnd(100, 'x') })),
  ask('create-with-name-of-101', refused('name-length'), ({ name }) => create({ name: name().padEnd(101, 'x') })),
  // A service might store names in lower case, or break at an emoji. The other names of the run are in lower case.
  ask('create-with-emoji', accepted(), ({ name }) => [
    create({ name: `${name()} In Two Cases \u00e9 \u{1f600}` }),
    get(GROUPS),
  ]),
  changing('name-of-100', accepted('new-name-unique'), ({ mark }) => ({ name: mark.padEnd(100, 'y') })),
  changing('name-of-101', refused('new-name-unique'), ({ mark }) => ({ name: mark.padEnd(101, 'y') })),
  comparing('name-taken', 'one', 'ONE', refused('new-name-unique', 'status-duplicate-name')),
  comparing('name-taken-in-other-letters', 'straße', 'STRASSE', open('name-comparison')),
  comparing('name-taken-with-umlaut', 'Äpfel', 'äPFEL', open('name-comparison')),
  ask('name-taken-back', accepted('new-name-unique'), ({ group, name }) => {
    const named = group()
    return [change(named, { name: name() }), change(named, { name: named.name })]
  }),
  ask('name-as-it-is', open(), ({ group }) => {
    const named = group()
    return change(named, { name: named.name })
  }),
]

const named = ({ name }: ProbeScene) => ({ name: name() })

const BODIES: readonly Probe[] = [
  changing('body-empty', refused('', 'status-invalid-request-body'), () => ''),
  changing('body-cut', refused('', 'status-invalid-json'), () => '{'),
  changing('body-list', refused('', 'status-invalid-request-body'), ({ mark }) => [mark]),
  changing('body-without-fields', refused('update-needs-a-field', 'status-no-fields-to-update'), () => ({})),
  changing('body-with-unknown-field', refused('', 'status-unknown-field'), ({ name }) => ({
    name: name(),
    more: true,
  })),
  changing('name-of-wrong-type', refused('', 'status-invalid-field-type'), () => ({ name: 5 })),
  changing('members-of-wrong-type', refused('', 'status-invalid-field-type'), () => ({ domains: 'text' })),
  changing('null-field', open('null-fields'), ({ name }) => ({ name: name(), domains: null })),
  changing('body-of-other-type', open('content-type'), named, { headers: { 'content-type': 'text/plain' } }),
  // In bytes, beyond each limit that the stand-in knows.
  changing('body-of-65537', open('body-limit'), named, { padTo: 65_537 }),
  changing('body-of-102401', open('body-limit'), named, { padTo: 102_401 }),
  changing('body-of-1048577', open('body-limit status-request-too-large'), named, { padTo: 1_048_577 }),
  ask('create-without-name', refused('', 'status-missing-field'), ({ own }) => create({ domains: [own()] })),
  ask('create-with-wrong-field', refused('', 'status-unknown-field'), ({ own }) =>
    create({ domains: [own()], label: 'x' }),
  ),
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
