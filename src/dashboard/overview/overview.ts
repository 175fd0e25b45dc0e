import { call } from '../client.ts'
import { createResource } from '../resource.ts'

/** How many refreshes the chart shows. */
const DAYS = 90
/**
 * The least time between two loads after changes, in milliseconds. The server computes the figures again after each
 * change. For 10,000 domains that takes most of a second.
 */
const REST = 5_000

/** The figures of the chosen account. The server computes them again only after a change. */
export const overview = createResource({
  load: (account) => call('getOverview', { parameters: { account }, query: { days: DAYS } }),
  tabs: ['overview', 'time'],
  afterRequests: 1_500,
  changesOnly: true,
  restOf: ({ domains }) => Math.max(REST, domains),
  polled: true,
})
