import { basename } from 'node:path'
import type { AccountOrigin, DomainGroup, DomainNature, MonitoredDomain } from '../../domain/account.ts'
import { countersFor } from '../../domain/counting.ts'
import type { FormerPin } from '../../domain/dmarc.ts'
import type { Fault, FaultTally } from '../../domain/faults.ts'
import type { ApiKey } from '../../domain/keys.ts'
import { LIMITS } from '../../domain/limits.ts'
import { PROFILE_NAMES } from '../../domain/profile.ts'
import type { Hits } from '../../domain/quotas.ts'
import { isObject } from '../../ground/json.ts'
import { findViolation } from '../../ground/schema.ts'
import type { Work } from '../../ground/work.ts'
import { type AccountRecord, type FormerDomain, type ListTexts, writeAccount } from '../record.ts'
import { StoreError } from '../store-error.ts'
import type { AccountData, Use } from '../stored-account.ts'
import { findBrokenLink } from './account-links.ts'

const FORMAT = 'dmarc-understudy/account'
/**
 * Version 2 adds removed domains and the tags of a domain's own record. Version 3 adds the times of fixed values, and
 * earlier fixed values.
 */
const VERSION = 3

/** The content of a file, without its format and version. */
export interface AccountContent {
  account: AccountRecord
  quotas: Readonly<Record<string, Hits>>
  tallies: Readonly<Record<string, FaultTally>>
  requests: number
  /** Absent for an account that is never evicted. Older files never have it. */
  use?: Use
}

interface StoredFile extends AccountContent {
  format: typeof FORMAT
  version: 1 | 2 | typeof VERSION
}

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
  account: shapeOf<AccountRecord>(
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
      domains: listOf<MonitoredDomain>(
        {
          name: text,
          spelling: text,
          addedAt: time,
          features: textList,
          ...nature,
          pin,
          pinnedAt: time,
          formerPins: listOf<FormerPin>({ pin, from: time, until: time }, ['from']),
          shownFrom: number,
        },
        ['spelling', 'profile', 'since', 'volume', 'policy', 'pin', 'pinnedAt', 'formerPins', 'shownFrom'],
      ),
      formerDomains: listOf<FormerDomain>({
        name: text,
        nature: shapeOf<DomainNature>(nature, ['profile', 'since', 'volume', 'policy']),
      }),
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

/** The text of a file, as work that can pause. `last` is what this account wrote before, see `writeAccount`. */
export function* writeAccountFile(
  { state, quotas, tallies, requests, use }: AccountData,
  last: ListTexts,
): Work<string> {
  const counters = countersFor({ quotas, tallies }, [state])
  const counted = JSON.stringify({
    quotas: Object.fromEntries(counters.quotas),
    tallies: Object.fromEntries(counters.tallies),
    requests,
    ...(use && { use }),
  } satisfies Omit<AccountContent, 'account'>).slice(1)
  return `{"format":"${FORMAT}","version":${VERSION},"account":${yield* writeAccount(state, last)},${counted}\n`
}

/** Parses and validates the content of a file. @throws StoreError `damaged`, which names `path` */
export async function readAccountFile(path: string, content: string): Promise<AccountContent> {
  const file = parseJson(path, content)
  const { format, version } = isObject(file) ? file : {}
  if (format !== FORMAT) throw damagedFile(path, `is not an account of dmarc-understudy: /format must be "${FORMAT}"`)
  if (typeof version === 'number' && version > VERSION) {
    throw damagedFile(path, `was written by a newer dmarc-understudy (version ${version}; this one reads ${VERSION})`)
  }
  const violation = await findViolation(schema, file)
  if (violation !== undefined) throw damagedFile(path, `${violation.pointer} ${violation.reason}`.trim())
  const valid = file as StoredFile
  const contradiction = findBrokenLink(valid)
  if (contradiction !== undefined) throw damagedFile(path, contradiction)
  return valid
}

export function damagedFile(path: string, problem: string, options?: ErrorOptions): StoreError {
  const error = new StoreError('damaged', `${path}: ${problem}`, options)
  error.file = basename(path)
  return error
}

function parseJson(path: string, content: string): unknown {
  if (content.trim() === '') throw damagedFile(path, 'is empty')
  try {
    return JSON.parse(content)
  } catch (cause) {
    throw damagedFile(path, 'is not JSON; it was cut off or changed by hand', { cause })
  }
}

/** A schema for an object with exactly these properties. The type ensures that no property is forgotten. */
function shapeOf<Shape>(properties: Record<keyof Shape & string, object>, optional: (keyof Shape & string)[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.some((other) => other === name))
  return { type: 'object', properties, required, additionalProperties: false }
}

function listOf<Item>(properties: Record<keyof Item & string, object>, optional: (keyof Item & string)[] = []) {
  return { type: 'array', items: shapeOf<Item>(properties, optional) }
}
