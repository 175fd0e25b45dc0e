import type { Settings } from '../domain/settings.ts'
import { isObject, type Json } from '../ground/json.ts'
import { follow } from './extensions.ts'

const QUOTA_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const

/**
 * Changes a document from `placeCodes` so that each response declares its headers under these settings. The document as
 * written declares the headers for `charged`.
 */
export function placeHeaders(document: Json, { quotaHeaders }: Pick<Settings, 'quotaHeaders'>): void {
  if (quotaHeaders === 'charged') return
  for (const item of Object.values((document['paths'] ?? {}) as Json)) {
    if (!isObject(item) || item['x-quota'] === undefined) continue
    for (const operation of Object.values(item)) {
      const responses = isObject(operation) ? operation['responses'] : undefined
      if (!isObject(responses)) continue
      for (const [status, reference] of Object.entries(responses)) {
        const response = follow(document, reference)
        if (!status.startsWith('x-') && isObject(response)) responses[status] = withQuota(response, quotaHeaders)
      }
    }
  }
}

/** The response with quota headers that are always present, optional, or absent. */
function withQuota(response: Json, shown: Settings['quotaHeaders']): Json {
  const headers = isObject(response['headers']) ? response['headers'] : {}
  const codes = (response['x-codes'] ?? []) as string[]
  const declared = Object.hasOwn(headers, QUOTA_HEADERS[0])
  switch (shown) {
    case 'charged':
      return response
    case 'valid-key':
      return declared ? response : { ...response, headers: { ...headers, ...quotaHeaders(optionalHeader) } }
    case 'any-request':
      return { ...response, headers: { ...headers, ...quotaHeaders(referenceTo) } }
    case 'success-or-limited': {
      if (codes.length === 0 || (codes.length === 1 && codes[0] === 'rate_limited')) return response
      const others = Object.entries(headers).filter(([name]) => !QUOTA_HEADERS.some((header) => header === name))
      const limited = codes.includes('rate_limited') ? quotaHeaders(optionalHeader) : {}
      return { ...response, headers: { ...Object.fromEntries(others), ...limited } }
    }
  }
}

function quotaHeaders(make: (name: string) => Json): Json {
  return Object.fromEntries(QUOTA_HEADERS.map((name) => [name, make(name)]))
}

function referenceTo(name: string): Json {
  return { $ref: `#/components/headers/${name}` }
}

/** An optional header from the components. A reference cannot have `required` beside it. */
export function optionalHeader(name: string): Json {
  const schema = { $ref: `#/components/headers/${name}/schema` }
  return { description: `See ${name}.`, schema, required: false }
}
