import type { AccountOrigin, ApiKey, DomainGroup, MonitoredDomain } from '../../domain/account.ts'
import { PROFILE_NAMES } from '../../domain/dmarc.ts'
import type { Fault, FaultTally } from '../../domain/faults.ts'
import { ImmutableMap } from '../../domain/immutable.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Hits } from '../../domain/quotas.ts'
import type { Settings } from '../../domain/settings.ts'
import type { Awaitable } from '../../ground/awaitable.ts'
import { readJson } from '../../ground/json.ts'
import { findViolation } from '../../ground/schema.ts'
import type { StoredAccount, Use } from '../kept-account.ts'
import { type AccountRecord, decodeAccount, encodeAccount } from '../record.ts'
import { StoreError } from '../store-error.ts'

const FORMAT = 'dmarc-understudy/account'
const VERSION = 3

interface StoredFile {
  format: typeof FORMAT
  version: typeof VERSION
  account: AccountRecord
  quotas: Readonly<Record<string, Hits>>
  tallies: Readonly<Record<string, FaultTally>>
  requests: number
  /** Absent for an account that is never evicted. */
  use?: Use
}

const text = { type: 'string' }
const textList = { type: 'array', items: text }
const number = { type: 'number' }
const integer = { type: 'integer' }
const count = { type: 'integer', minimum: 0 }
/** For items that are counted one by one. The next numbers are exact as well. */
const ordinal = { ...count, maximum: 2 ** 52 }
/** In milliseconds, up to the last time of JavaScript. */
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
const schema = shapeOf<StoredFile>(
  {
    format: { const: FORMAT },
    version: { const: VERSION },
    account: shapeOf<AccountRecord>({
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
        properties: { offset: time, frozenAt: time },
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
      },
      keys: listOf<ApiKey>({ id: text, hash: text, label: text, createdAt: time, disabled: { type: 'boolean' } }, [
        'label',
      ]),
      domains: listOf<MonitoredDomain>(
        {
          name: text,
          spelling: text,
          addedAt: time,
          features: textList,
          ...nature,
          pin,
          pinnedAt: time,
          shownFrom: number,
        },
        ['spelling', 'profile', 'since', 'volume', 'policy', 'pin', 'pinnedAt', 'shownFrom'],
      ),
      groups: listOf<DomainGroup>({ id: text, name: text, domains: textList }),
      groupsCreated: { ...count, maximum: Number.MAX_SAFE_INTEGER },
      keysCreated: ordinal,
      faults: listOf<Fault>({ id: text, set: text, createdAt: time, rule: { type: 'object' } }, ['set']),
      faultsCreated: ordinal,
    }),
    quotas: { type: 'object', additionalProperties: shapeOf<Hits>({ startedAt: time, used: count }) },
    tallies: { type: 'object', additionalProperties: shapeOf<FaultTally>({ matched: ordinal, hits: ordinal }) },
    requests: ordinal,
    use: shapeOf<Use>({ usedAt: number, changed: { type: 'boolean' } }),
  },
  ['use'],
)

/** @throws StoreError `damaged`, which names the file */
export type ParseAccount = (path: string, content: Buffer) => Promise<StoredAccount>

/**
 * Reads the files of accounts. `validate` returns the problem of an account whose file has the right shape, as a JSON
 * pointer and the rest of a sentence.
 */
export function accountParser(
  settings: Pick<Settings, 'nameComparison'>,
  validate: (record: AccountRecord) => Awaitable<string | undefined>,
): ParseAccount {
  return async (path, content) => {
    const file = readJson(content.toString())
    if (file === undefined) throw damagedFile(path, 'is not JSON; it was cut off or changed by hand')
    const violation = await findViolation(schema, file)
    if (violation !== undefined) throw damagedFile(path, `${violation.pointer} ${violation.reason}`.trim())
    const { account, quotas, tallies, requests, use } = file as StoredFile
    const problem = await validate(account)
    if (problem !== undefined) throw damagedFile(path, problem)
    const [hits, counts] = [ImmutableMap(Object.entries(quotas)), ImmutableMap(Object.entries(tallies))]
    return { state: decodeAccount(account, settings), counters: { quotas: hits, tallies: counts, requests }, use }
  }
}

export function stringifyAccount({ state, counters: { quotas, tallies, requests }, use }: StoredAccount): string {
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
}

export function damagedFile(path: string, problem: string): StoreError {
  return new StoreError('damaged', `${path}: ${problem}`)
}

/** A schema for an object with exactly these properties. The type ensures that no property is forgotten. */
function shapeOf<Shape>(properties: Record<keyof Shape & string, object>, optional: (keyof Shape & string)[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.some((other) => other === name))
  return { type: 'object', properties, required, additionalProperties: false }
}

function listOf<Item>(properties: Record<keyof Item & string, object>, optional: (keyof Item & string)[] = []) {
  return { type: 'array', items: shapeOf<Item>(properties, optional) }
}
