import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadControlApi } from '../../src/admin/document.ts'
import { isObject, type Json, valueAt } from '../../src/ground/json.ts'

/** What no schema limits, by what limits it instead. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'only compared with what there is; the header of a request has at most 16 KiB': [
    ...['getAccount?account', 'deleteSnapshot?snapshot', 'updateKey?key', 'listAccounts?after', 'getSenders?domain'],
    ...['addFaultSet?set', 'deleteFault?fault', 'listAllRequests?operation', 'listAllRequests?method'],
    ...['listAllRequests?path', 'listAllRequests?code', 'explainRequest?request-id', 'exportState?before'],
    'updateGroup?group',
  ],
  'only compared with what there is; the body has a limit': [
    ...['updateQuota/key', 'updateQuota/bucket', 'verifyRequests/match/operation', 'verifyRequests/match/method'],
    ...['verifyRequests/match/path', 'verifyRequests/match/key', 'verifyRequests/match/code'],
    ...['verifyRequests/match/body', 'verifyRequests/match/query', 'verifyRequests/match/query{}'],
    ...['verifyRequests/match/headers', 'verifyRequests/match/headers{}'],
  ],
  'the schema of the service, and its limit of a body': [
    ...['addMonitoredDomains', 'addMonitoredDomains/domains', 'removeMonitoredDomains'],
    ...['removeMonitoredDomains/domains', 'createGroup', 'createGroup/name', 'createGroup/domains', 'updateGroup'],
    ...['updateGroup/name', 'updateGroup/domains', 'updateGroup/add_domains', 'updateGroup/remove_domains'],
  ],
  'a body of the control plane has a limit, and what is kept is weighed': [
    ...['fixture/domains', 'fixture/former_domains', 'fixture/groups', 'fixture/groups[]/domains'],
  ],
  'a name that is no hostname is refused, and a hostname has at most 253 characters': [
    ...['fixture/domains[]', 'fixture/domains[]/name', 'fixture/former_domains[]/name'],
  ],
  'the names of the ready-made fixtures, and the schema of fixtures': ['createAccount/fixture'],
  'the schema of fixtures': ['importState'],
  'the limit of names in a list, and those that are no hostnames are refused': ['listDailyRecords?domain'],
  'the operations of the service': ['addFault/match/operation'],
  'the error codes of the service': ['addFault/respond/error'],
  'the setting answer-limit': ['addFault/respond/body'],
  'the setting keys-per-account': ['fixture/keys'],
  'the format of ids in the contract': ['fixture/groups[]/id'],
  'the domains of the fixture': ['fixture/groups[]/domains[]'],
  'the bytes of all scenes, and the depth of a body': ['fixture/scenes[]/calls[]/body'],
}
/** The texts of these formats have at most about 40 characters. */
const SHORT_FORMATS = new Set<unknown>(['date-time', 'duration'])

const { resolved } = (await loadControlApi()).document

describe('What a request to the control plane can bring', () => {
  const fixture = JSON.parse(readFileSync('fixtures/fixture.schema.json', 'utf8'))
  const found = [...unlimitedIn(resolved), ...unlimitedBelow(fixture, 'fixture', fixture)]

  it('has a limit in its schema, except for what is limited elsewhere', () => {
    expect([...new Set(found)].toSorted()).toEqual(Object.values(ELSEWHERE).flat().toSorted())
  })
})

function unlimitedIn(document: Json): string[] {
  const operations = Object.values(document['paths'] as Json).flatMap((item) => Object.values(item as Json) as Json[])
  const seen = new Set<unknown>()
  return operations.flatMap((operation) => {
    const id = String(operation['operationId'])
    const { requestBody, parameters = [] } = operation as { requestBody?: Json; parameters?: Json[] }
    const body = (requestBody?.['content'] as Record<string, Json> | undefined)?.['application/json']?.['schema']
    const query = parameters.flatMap(({ name, schema }) => unlimitedBelow(schema, `${id}?${name}`, document, seen))
    return [...unlimitedBelow(body, id, document, seen), ...query]
  })
}

/** The places below a schema that take texts, lists, objects or anything else of any size. */
function unlimitedBelow(schema: unknown, place: string, root: Json, seen = new Set<unknown>()): string[] {
  if (!isObject(schema) || seen.has(schema)) return []
  seen.add(schema)
  const { $ref, properties = {}, items, additionalProperties, anyOf = [] } = schema as { [name: string]: unknown }
  if (typeof $ref === 'string') {
    return unlimitedBelow(valueAt(root, $ref.slice(1)), place, root, seen)
  }
  const below = Object.entries(properties as Json).flatMap(([name, each]) =>
    unlimitedBelow(each, `${place}/${name}`, root, seen),
  )
  return [
    ...(isUnlimited(schema, anyOf as Json[]) ? [place] : []),
    ...below,
    ...unlimitedBelow(items, `${place}[]`, root, seen),
    ...unlimitedBelow(additionalProperties, `${place}{}`, root, seen),
  ]
}

function isUnlimited(schema: Json, anyOf: readonly Json[]): boolean {
  const { type, pattern, format, maxLength, maxItems, maxProperties, additionalProperties } = schema
  if (schema['enum'] !== undefined || schema['const'] !== undefined) return false
  if (type === undefined) return schema['$ref'] === undefined && Object.keys(schema).join() === 'description'
  const types = [type].flat()
  const isShort =
    SHORT_FORMATS.has(format) || (anyOf.length > 0 && anyOf.every((each) => SHORT_FORMATS.has(each['format'])))
  return (
    (types.includes('string') && maxLength === undefined && !isShort && !endsSomewhere(String(pattern ?? '*'))) ||
    (types.includes('array') && maxItems === undefined) ||
    (types.includes('object') && additionalProperties !== false && maxProperties === undefined)
  )
}

/** Whether a pattern matches only texts up to some length. */
function endsSomewhere(pattern: string): boolean {
  const isAnchored = pattern.startsWith('^') && pattern.endsWith('$')
  return isAnchored && !/[*+]|\{\d+,\}/.test(pattern.replaceAll(/\[[^\]]*\]|\\./g, 'x'))
}
