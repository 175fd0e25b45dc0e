import type { AccountOrigin, DomainGroup, MonitoredDomain } from '../../domain/account.ts'
import type { Fault, FaultTally } from '../../domain/faults.ts'
import { ImmutableMap } from '../../domain/immutable.ts'
import type { ApiKey } from '../../domain/keys.ts'
import { LIMITS } from '../../domain/limits.ts'
import { PROFILE_NAMES } from '../../domain/profile.ts'
import type { Hits } from '../../domain/quotas.ts'
import type { Settings } from '../../domain/settings.ts'
import type { Awaitable } from '../../ground/awaitable.ts'
import { decodeText } from '../../ground/input-file.ts'
import { isObject } from '../../ground/json.ts'
import { findViolation } from '../../ground/schema.ts'
import { show } from '../../ground/show.ts'
import type { StoredAccount, Use } from '../kept-account.ts'
import { type AccountRecord, decodeAccount, encodeAccount } from '../record.ts'
import { damagedFile, type FileFormat } from './file-adapter.ts'

const FORMAT = 'dmarc-understudy/account'
/**
 * Version 2 adds the tags of a domain's own record, version 3 the times of fixed values. Files of earlier programs also
 * have removed domains and earlier fixed values, which are left out.
 */
const VERSION = 3

interface StoredFile {
  format: typeof FORMAT
  version: 1 | 2 | typeof VERSION
  account: FileAccount
  quotas: Readonly<Record<string, Hits>>
  tallies: Readonly<Record<string, FaultTally>>
  requests: number
  /** Absent for an account that is never evicted. Older files never have it. */
  use?: Use
}

/** An account of a file. What earlier programs remembered of removed domains and of former fixed values is left out. */
type FileAccount = Omit<AccountRecord, 'domains'> & { domains: readonly FileDomain[]; formerDomains?: unknown }
type FileDomain = MonitoredDomain & { formerPins?: unknown }

const text = { type: 'string' }
const textList = { type: 'array', items: text }
const number = { type: 'number' }
const integer = { type: 'integer' }
/** No upper limit, because earlier versions had no limits for some counts. See also `LIMITS`. */
const count = { type: 'integer', minimum: 0 }
/** For items that are counted one by one. The next numbers are exact as well. */
const ordinal = { ...count, maximum: 2 ** 52 }
/** In milliseconds, up to the last time of JavaScript. Earlier versions could count back to before the first one. */
const time = { type: 'number', maximum: 8.64e15 }

const tags = { p: text, sp: text, np: text, pct: count, testing: text }

const nature = {
  profile: { enum: PROFILE_NAMES },
  since: integer,
  volume: count,
  policy: { type: 'object', additionalProperties: false, properties: tags },
}

const pin = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...tags,
    dmarc: number,
    dkim: number,
    spf: number,
    count,
  },
}

// Strict about the shape, so that the next write loses nothing of the file. Lenient about values, because each value
// that an account can hold must be readable again.
const usual = shapeOf<Omit<StoredFile, 'use'>>({
  format: { const: FORMAT },
  version: { enum: [1, 2, VERSION] },
  account: shapeOf<FileAccount>(
    {
      id: text,
      plan: text,
      seed: { ...count, maximum: LIMITS.seed },
      // Fixtures and fault rules have schemas of their own.
      origin: shapeOf<AccountOrigin>(
        {
          fixture: { type: ['string', 'object'] },
          seed: { ...count, maximum: LIMITS.seed },
          now: text,
          countedFrom: text,
          frozen: { type: 'boolean' },
          plan: text,
          key: shapeOf<AccountOrigin['key']>({ id: text, hash: text }),
          faults: listOf<Pick<Fault, 'set' | 'rule'>>({ set: text, rule: { type: 'object' } }, ['set']),
          story: { type: 'object' },
        },
        ['seed', 'now', 'countedFrom', 'frozen', 'plan', 'faults', 'story'],
      ),
      createdAt: time,
      clock: {
        type: 'object',
        properties: { offset: number, frozenAt: number },
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
      },
      keys: listOf<ApiKey>({ id: text, hash: text, label: text, createdAt: time, disabled: { type: 'boolean' } }, [
        'label',
      ]),
      domains: listOf<FileDomain>(
        {
          name: text,
          spelling: text,
          addedAt: time,
          features: textList,
          ...nature,
          pin,
          pinnedAt: time,
          formerPins: { type: 'array' },
          shownFrom: number,
        },
        ['spelling', 'profile', 'since', 'volume', 'policy', 'pin', 'pinnedAt', 'formerPins', 'shownFrom'],
      ),
      formerDomains: { type: 'array' },
      groups: listOf<DomainGroup>({ id: text, name: text, domains: textList }),
      groupsCreated: { ...count, maximum: Number.MAX_SAFE_INTEGER },
      keysCreated: ordinal,
      faults: listOf<Fault>({ id: text, set: text, createdAt: time, rule: { type: 'object' } }, ['set']),
      faultsCreated: ordinal,
    },
    ['formerDomains'],
  ),
  quotas: { type: 'object', additionalProperties: shapeOf<Hits>({ startedAt: time, used: count }) },
  tallies: { type: 'object', additionalProperties: shapeOf<FaultTally>({ matched: ordinal, hits: ordinal }) },
  requests: ordinal,
})
const use = shapeOf<Use>({ usedAt: number, changed: { type: 'boolean' } })
const schema = { ...usual, properties: { ...usual.properties, use } satisfies Record<keyof StoredFile, object> }

/**
 * The format of the file of an account. `validate` returns the problem of an account whose file has the right shape, as
 * a JSON pointer and the rest of a sentence.
 */
export function accountFormat(
  settings: Pick<Settings, 'nameComparison'>,
  validate: (record: AccountRecord) => Awaitable<string | undefined>,
): FileFormat<StoredAccount> {
  return {
    async parse(path, content) {
      const { account: kept, quotas, tallies, requests, use } = await readFile(path, content)
      const account = withoutFormer(kept)
      const problem = findRepeated(account) ?? (await validate(account))
      if (problem !== undefined) throw damagedFile(path, problem)
      const counters = {
        quotas: ImmutableMap(Object.entries(quotas)),
        tallies: ImmutableMap(Object.entries(tallies)),
        requests,
      }
      return { state: decodeAccount(account, settings), counters, ...(use && { use }) }
    },
    stringify({ state, counters: { quotas, tallies, requests }, use }) {
      const file: StoredFile = {
        format: FORMAT,
        version: VERSION,
        account: encodeAccount(state),
        quotas: Object.fromEntries(quotas),
        tallies: Object.fromEntries(tallies),
        requests,
        ...(use && { use }),
      }
      return `${JSON.stringify(file)}\n`
    },
  }
}

/** Parses and validates the content of a file. @throws StoreError `damaged`, which names `path` */
async function readFile(path: string, content: Buffer): Promise<StoredFile> {
  const file = parseJson(path, content)
  const { format, version } = isObject(file) ? file : {}
  if (format !== FORMAT) throw damagedFile(path, `is not an account of dmarc-understudy: /format must be "${FORMAT}"`)
  if (typeof version === 'number' && version > VERSION) {
    throw damagedFile(path, `was written by a newer dmarc-understudy (version ${version}; this one reads ${VERSION})`)
  }
  const violation = await findViolation(schema, file)
  if (violation !== undefined) throw damagedFile(path, `${violation.pointer} ${violation.reason}`.trim())
  return file as unknown as StoredFile
}

function withoutFormer({ formerDomains: _, domains, ...rest }: FileAccount): AccountRecord {
  return { ...rest, domains: domains.map(({ formerPins: _, ...domain }): MonitoredDomain => domain) }
}

/** @throws StoreError `damaged` */
export function parseJson(path: string, content: Buffer): unknown {
  const text = decodeText(content, (reason) => damagedFile(path, reason))
  if (text.trim() === '') throw damagedFile(path, 'is empty')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw damagedFile(path, 'is not JSON; it was cut off or changed by hand', { cause })
  }
}

/** The first item with the name of an earlier one, which the next write would lose. */
function findRepeated({ domains, groups, keys, faults }: AccountRecord): string | undefined {
  const names = [
    ...domains.map(({ name }, index) => [`/account/domains/${index}/name`, name]),
    ...groups.map(({ id }, index) => [`/account/groups/${index}/id`, id]),
    ...keys.map(({ hash }, index) => [`/account/keys/${index}/hash`, hash]),
    ...faults.map(({ id }, index) => [`/account/faults/${index}/id`, id]),
  ] as [pointer: string, name: string][]
  const known = new Set<string>()
  for (const [pointer, name] of names) {
    const place = `${pointer.replace(/\d+/, '')} ${name}`
    if (known.has(place)) return `${pointer} ${show(name)} appears twice`
    known.add(place)
  }
  return undefined
}

/** A schema for an object with exactly these properties. The type ensures that no property is forgotten. */
function shapeOf<Shape>(properties: Record<keyof Shape & string, object>, optional: (keyof Shape & string)[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.some((other) => other === name))
  return { type: 'object', properties, required, additionalProperties: false }
}

function listOf<Item>(properties: Record<keyof Item & string, object>, optional: (keyof Item & string)[] = []) {
  return { type: 'array', items: shapeOf<Item>(properties, optional) }
}
