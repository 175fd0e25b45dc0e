import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadControlApi } from '../../src/admin/document.ts'
import { isObject, type Json } from '../../src/ground/json.ts'

const BODY = 'only compared with what there is; the body has a limit'
const HEADER = 'only compared with what there is; the header of a request has at most 16 KiB'
const RULES_OF_NAMES = 'a name that is no hostname is refused, and a hostname has at most 253 characters'
const OF_SERVICE = 'the schema of the service, and its limit of a body'
const FIXTURE = 'a body of the control plane has a limit, and what is kept is weighed'

/** What no schema limits, and what limits it instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'createAccount/fixture': 'the names of the ready-made fixtures, and the schema of fixtures',
  importState: 'the schema of fixtures',
  'getAccount?account': HEADER,
  'deleteSnapshot?snapshot': HEADER,
  'updateKey?key': HEADER,
  'listAccounts?after': HEADER,
  'setFeatures?domain': HEADER,
  'addFaultSet?set': HEADER,
  'deleteFault?fault': HEADER,
  'listAllRequests?operation': HEADER,
  'listAllRequests?method': HEADER,
  'listAllRequests?path': HEADER,
  'listAllRequests?code': HEADER,
  'explainRequest?request-id': HEADER,
  'exportState?before': HEADER,
  'listDailyRecords?domain': 'the limit of names in a list, and those that are no hostnames are refused',
  'updateQuota/key': BODY,
  'updateQuota/bucket': BODY,
  addMonitoredDomains: OF_SERVICE,
  'addMonitoredDomains/domains': OF_SERVICE,
  removeMonitoredDomains: OF_SERVICE,
  'removeMonitoredDomains/domains': OF_SERVICE,
  createGroup: OF_SERVICE,
  'createGroup/name': OF_SERVICE,
  'createGroup/domains': OF_SERVICE,
  updateGroup: OF_SERVICE,
  'updateGroup/name': OF_SERVICE,
  'updateGroup/domains': OF_SERVICE,
  'updateGroup/add_domains': OF_SERVICE,
  'updateGroup/remove_domains': OF_SERVICE,
  'updateGroup?group': HEADER,
  'addFault/match/operation': 'the operations of the service',
  'addFault/respond/error': 'the error codes of the service',
  'addFault/respond/body': 'the setting answer-limit',
  'verifyRequests/match/operation': BODY,
  'verifyRequests/match/method': BODY,
  'verifyRequests/match/path': BODY,
  'verifyRequests/match/key': BODY,
  'verifyRequests/match/code': BODY,
  'verifyRequests/match/body': BODY,
  'verifyRequests/match/query': BODY,
  'verifyRequests/match/query{}': BODY,
  'verifyRequests/match/headers': BODY,
  'verifyRequests/match/headers{}': BODY,
  'fixture/keys': 'the setting keys-per-account',
  'fixture/domains': FIXTURE,
  'fixture/domains[]': RULES_OF_NAMES,
  'fixture/domains[]/name': RULES_OF_NAMES,
  'fixture/former_domains': FIXTURE,
  'fixture/former_domains[]/name': RULES_OF_NAMES,
  'fixture/groups': FIXTURE,
  'fixture/groups[]/id': 'the format of ids in the contract',
  'fixture/groups[]/domains': FIXTURE,
  'fixture/groups[]/domains[]': 'the domains of the fixture',
  'fixture/scenes[]/calls[]/body': 'the bytes of all scenes, and the depth of a body',
}
/** The texts of these formats have at most about 40 characters. */
const SHORT_FORMATS = new Set<unknown>(['date-time', 'duration'])

const { resolved } = (await loadControlApi()).document

describe('What a request to the control plane can bring', () => {
  const fixture = JSON.parse(readFileSync('fixtures/fixture.schema.json', 'utf8'))
  const found = [...unlimitedIn(resolved), ...unlimitedBelow(fixture, 'fixture', fixture)]

  it('has a limit in its schema, except for what is limited elsewhere', () => {
    expect([...new Set(found)].toSorted()).toEqual(Object.keys(ELSEWHERE).toSorted())
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
    const target = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, name) => (at as Json)[name], root)
    return unlimitedBelow(target, place, root, seen)
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
