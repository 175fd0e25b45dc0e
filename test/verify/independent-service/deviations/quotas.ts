import { broken, unexplained } from './deviation.ts'

/** What can be wrong with the limits, beyond what the headers of one window tell. */
export const QUOTAS = {
  'No request is ever refused for its number.': broken('dmarc-limit', { exceeds: () => false }),
  'The last request of a window is refused.': broken('dmarc-limit', { exceeds: (ordinal, limit) => ordinal >= limit }),
  'All paths share one count.': unexplained({ bucketOf: (key) => key }),
  'Each method has a limit of its own.': unexplained({ bucketOf: (key, path, method) => `${key} ${method} ${path}` }),
}
