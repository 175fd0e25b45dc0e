import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { AccountRecord, DomainGroup, MonitoredDomain } from '../../domain/account.ts'
import type { Fault, FaultTally } from '../../domain/faults.ts'
import type { ApiKey } from '../../domain/keys.ts'
import type { PersistentMap } from '../../domain/persistent-map.ts'
import { PROFILE_NAMES } from '../../domain/profile.ts'
import type { Hits } from '../../domain/quotas.ts'
import { StoreError } from '../store-error.ts'
import type { AccountData } from '../stored-account.ts'

const FORMAT = 'dmarc-understudy/account'
const VERSION = 1

/** What a file holds beside its format and version. */
export interface AccountContent {
  account: AccountRecord
  quotas: Readonly<Record<string, Hits>>
  tallies: Readonly<Record<string, FaultTally>>
  requests: number
}

interface AccountFile extends AccountContent {
  format: typeof FORMAT
  version: typeof VERSION
}

const text = { type: 'string' }
const textList = { type: 'array', items: text }
const number = { type: 'number' }
const integer = { type: 'integer' }
const count = { type: 'integer', minimum: 0 }

const pin = {
  type: 'object',
  additionalProperties: false,
  properties: {
    p: text,
    sp: text,
    np: text,
    pct: count,
    testing: text,
    dmarc: number,
    dkim: number,
    spf: number,
    count,
  },
}

// Strict about shape, so that nothing in a file is lost on the next write; lenient about values, because whatever an
// account can hold must be readable again.
const schema = shapeOf<AccountFile>({
  format: { const: FORMAT },
  version: { const: VERSION },
  account: shapeOf<AccountRecord>({
    id: text,
    plan: text,
    seed: count,
    // What is in it was checked when it came in; a fixture and fault rules have schemas of their own.
    origin: { type: 'object', required: ['fixture', 'key'] },
    createdAt: number,
    clock: {
      type: 'object',
      properties: { offset: number, frozenAt: number },
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
    },
    keys: listOf<ApiKey>({ id: text, hash: text, label: text, createdAt: number, disabled: { type: 'boolean' } }, [
      'label',
    ]),
    domains: listOf<MonitoredDomain>(
      {
        name: text,
        addedAt: number,
        features: textList,
        profile: { enum: PROFILE_NAMES },
        since: integer,
        volume: count,
        pin,
      },
      ['profile', 'since', 'volume', 'pin'],
    ),
    groups: listOf<DomainGroup>({ id: text, name: text, domains: textList }),
    groupsCreated: count,
    keysCreated: count,
    faults: listOf<Fault>({ id: text, set: text, createdAt: number, rule: { type: 'object' } }, ['set']),
    faultsCreated: count,
  }),
  quotas: { type: 'object', additionalProperties: shapeOf<Hits>({ startedAt: number, used: count }) },
  tallies: { type: 'object', additionalProperties: shapeOf<FaultTally>({ matched: count, hits: count }) },
  requests: count,
})

let validator: Promise<ValidateFunction<AccountFile>> | undefined

/**
 * The text of a file. What has not changed since it was last written is not written out again: a change is one group or
 * one domain of thousands.
 */
export function writeAccountFile({ state, quotas, tallies, requests }: AccountData): string {
  const { domains, groups, groupNames: _, ...rest } = state
  const fields = Object.entries(rest satisfies Omit<AccountRecord, 'domains' | 'groups'>)
    .map(
      ([name, value]) =>
        `${JSON.stringify(name)}:${typeof value === 'object' ? itemText(value) : JSON.stringify(value)}`,
    )
    .join(',')
  const account = `{${fields},"domains":${listText(domains)},"groups":${listText(groups)}}`
  const counters = JSON.stringify({
    quotas: Object.fromEntries(quotas),
    tallies: Object.fromEntries(tallies),
    requests,
  } satisfies Omit<AccountContent, 'account'>).slice(1)
  return `{"format":"${FORMAT}","version":${VERSION},"account":${account},${counters}\n`
}

/** Of lists, and of the things in them; neither is ever changed, but replaced. */
const texts = new WeakMap<object, string>()

function listText(list: PersistentMap<string, object>): string {
  let text = texts.get(list)
  if (text === undefined) {
    const parts: string[] = []
    for (const item of list.values()) parts.push(itemText(item))
    text = `[${parts.join(',')}]`
    texts.set(list, text)
  }
  return text
}

function itemText(item: object): string {
  let text = texts.get(item)
  if (text === undefined) {
    text = JSON.stringify(item)
    texts.set(item, text)
  }
  return text
}

/** Proves `content` to be an account; `path` is for the error that says where it is not. */
export async function readAccountFile(path: string, content: string): Promise<AccountContent> {
  validator ??= compileSchema()
  const validate = await validator
  const file = parseJson(path, content)
  const { format, version } = isObject(file) ? file : {}
  if (format !== FORMAT) throw damage(path, `is no account of dmarc-understudy: /format must be "${FORMAT}"`)
  if (typeof version === 'number' && version > VERSION) {
    throw damage(path, `was written by a newer dmarc-understudy (version ${version}; this one reads ${VERSION})`)
  }
  if (!validate(file)) throw damage(path, (validate.errors ?? []).map(describeError).join(', '))
  const contradiction = findContradiction(file.account)
  if (contradiction !== undefined) throw damage(path, contradiction)
  return file
}

export function damage(path: string, problem: string, options?: ErrorOptions): StoreError {
  return new StoreError('damaged', `${path}: ${problem}`, options)
}

async function compileSchema(): Promise<ValidateFunction<AccountFile>> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  return new Ajv2020({ validateSchema: false }).compile<AccountFile>(schema)
}

function parseJson(path: string, content: string): unknown {
  if (content.trim() === '') throw damage(path, 'is empty')
  try {
    return JSON.parse(content)
  } catch (cause) {
    throw damage(path, 'is not JSON, it was cut off or changed by hand', { cause })
  }
}

function describeError({ keyword, instancePath, params, message }: ErrorObject): string {
  if (keyword === 'const') return `${instancePath} must be ${JSON.stringify(params['allowedValue'])}`
  if (keyword !== 'additionalProperties') return `${instancePath} ${message}`.trim()
  const property = String(params['additionalProperty']).replaceAll('~', '~0').replaceAll('/', '~1')
  return `${instancePath}/${property} is not known`
}

/** What a schema cannot say about an account. */
function findContradiction({ domains, groups }: AccountRecord): string | undefined {
  const names = new Set<string>()
  for (const [index, { name }] of domains.entries()) {
    if (names.has(name)) return `/account/domains/${index}/name "${name}" stands there twice`
    names.add(name)
  }
  const ids = new Set<string>()
  for (const [index, group] of groups.entries()) {
    if (ids.has(group.id)) return `/account/groups/${index}/id "${group.id}" stands there twice`
    ids.add(group.id)
    const stranger = group.domains.findIndex((member) => !names.has(member))
    if (stranger >= 0) {
      return `/account/groups/${index}/domains/${stranger} "${group.domains[stranger]}" is not monitored`
    }
  }
  return undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Exactly these properties; the compiler asks for every one that the type has. */
function shapeOf<Shape>(properties: Record<keyof Shape & string, object>, optional: (keyof Shape & string)[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.some((other) => other === name))
  return { type: 'object', properties, required, additionalProperties: false }
}

function listOf<Item>(properties: Record<keyof Item & string, object>, optional: (keyof Item & string)[] = []) {
  return { type: 'array', items: shapeOf<Item>(properties, optional) }
}
