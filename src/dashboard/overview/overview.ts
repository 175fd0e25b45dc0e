import { call } from '../client.ts'
import { createResource } from '../resource.ts'

/** How many refreshes the chart shows. */
const DAYS = 90

/** The figures of the chosen account. While nothing changes them, the server computes them once. */
export const overview = createResource({
  load: (account) => call('getOverview', { parameters: { account }, query: { days: DAYS } }),
  tabs: ['overview', 'time'],
  afterRequests: 1_500,
  polled: true,
})
