import { call } from '../client.ts'
import { createResource } from '../resource.ts'

/** How many refreshes the chart shows. */
const DAYS = 90
/**
 * For how many milliseconds figures stay as they are, however much is written: the server computes them anew after each
 * change, for 10,000 domains in most of a second.
 */
const REST = 5_000

/** The figures of the chosen account. While nothing changes them, the server computes them once. */
export const overview = createResource({
  load: (account) => call('getOverview', { parameters: { account }, query: { days: DAYS } }),
  tabs: ['overview', 'time'],
  afterRequests: 1_500,
  changesOnly: true,
  restOf: ({ domains }) => Math.max(REST, domains),
  polled: true,
})
