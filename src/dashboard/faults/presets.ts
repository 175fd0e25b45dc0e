import type { FaultRule } from '../responses.ts'

/** Faults that developers usually test. */
export const PRESETS: readonly { title: string; rule: FaultRule }[] = [
  {
    title: 'The next POST /domains is lost after the change was made',
    rule: { match: { operation: 'addDomains' }, times: 1, phase: 'after', connection: 'reset' },
  },
  {
    title: 'The next 3 requests meet the quota',
    rule: { times: 3, respond: { error: 'rate_limited' } },
  },
  {
    title: 'A gateway answers the next request with 503',
    rule: {
      times: 1,
      respond: {
        status: 503,
        headers: { 'content-type': 'text/html', 'retry-after': '1' },
        body: '<html><body><h1>503 Service Unavailable</h1></body></html>\n',
      },
    },
  },
  {
    title: 'Each response takes one to three seconds',
    rule: { delay_ms: 1000, jitter_ms: 2000 },
  },
  {
    title: 'The next GET /dmarc is cut off half-way',
    rule: { match: { operation: 'listDmarc' }, times: 1, connection: 'truncate' },
  },
  {
    title: 'The next response is no JSON',
    rule: { times: 1, corrupt: 'malformed-json' },
  },
  {
    title: 'A later version of the service answers',
    rule: { corrupt: 'compatible' },
  },
  {
    title: 'The quota ends and comes back',
    rule: { times: 1, event: 'quota-used-up' },
  },
]
