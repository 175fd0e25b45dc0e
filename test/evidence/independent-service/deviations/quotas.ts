import {
  broken,
  type Deviation,
  permitted,
  quotaHeader,
  refusals,
  sends,
  unexplained,
  violation,
  without,
} from './deviation.ts'

/** What can be wrong with the limits. */
export const QUOTAS: readonly Deviation[] = [
  {
    id: 'no-quota-headers',
    says: 'There is no header about the quota.',
    ...violation('X-RateLimit', 'read'),
    change: without('X-RateLimit-'),
  },
  {
    id: 'no-quota-reset',
    says: 'X-RateLimit-Reset is missing.',
    ...violation('X-RateLimit-Reset', 'read'),
    change: without('X-RateLimit-Reset'),
  },
  {
    id: 'quota-limit-in-words',
    says: 'X-RateLimit-Limit is "10 per hour".',
    ...violation('X-RateLimit-Limit', 'read'),
    change: quotaHeader('X-RateLimit-Limit', (value) => `${value} per hour`),
  },
  {
    id: 'negative-remaining',
    says: 'X-RateLimit-Remaining is negative.',
    ...violation('X-RateLimit-Remaining', 'read'),
    change: quotaHeader('X-RateLimit-Remaining', (value) => `${value - 1000}`),
  },
  {
    id: 'rising-remaining',
    says: 'X-RateLimit-Remaining counts upwards.',
    ...unexplained('reads'),
    change: (parts) => {
      parts.leftOf = (ordinal) => ordinal
    },
  },
  {
    id: 'fixed-remaining',
    says: 'X-RateLimit-Remaining never sinks.',
    ...unexplained('reads'),
    change: (parts) => {
      parts.leftOf = (_, limit) => limit - 1
    },
  },
  {
    id: 'reset-in-the-past',
    says: 'X-RateLimit-Reset lies a day back.',
    ...unexplained('read'),
    change: quotaHeader('X-RateLimit-Reset', (value) => `${value - 86_400}`),
  },
  {
    id: 'reset-in-milliseconds',
    says: 'X-RateLimit-Reset is in milliseconds.',
    ...unexplained('read'),
    change: quotaHeader('X-RateLimit-Reset', (value) => `${value * 1000}`),
  },
  {
    id: 'no-quota',
    says: 'No request is ever refused for its number.',
    ...broken('dmarc-limit', 'reads'),
    change: (parts) => {
      parts.exceeds = () => false
    },
  },
  {
    id: 'one-too-many',
    says: 'One request more than the limit passes.',
    ...broken('dmarc-limit', 'reads'),
    change: (parts) => {
      parts.exceeds = (ordinal, limit) => ordinal > limit + 1
    },
  },
  {
    id: 'one-too-few',
    says: 'The last request of a window is refused.',
    ...broken('dmarc-limit', 'reads'),
    change: (parts) => {
      parts.exceeds = (ordinal, limit) => ordinal >= limit
    },
  },
  {
    id: 'shared-quota',
    says: 'All paths share one count.',
    ...unexplained('reads'),
    change: (parts) => {
      parts.bucketOf = (key) => key
    },
  },
  {
    id: 'quota-per-method',
    says: 'Each method has a limit of its own.',
    ...unexplained('reads'),
    change: (parts) => {
      parts.bucketOf = (key, path, method) => `${key} ${method} ${path}`
    },
  },
  {
    id: 'other-limit',
    says: '/domains allows 25 requests.',
    ...violation('/x-quota/limit', 'read'),
    change: (parts) => {
      parts.limits = { ...parts.limits, '/domains': 25 }
    },
  },
  {
    id: 'limited-without-code',
    says: 'A 429 has the code too_many_requests.',
    ...violation('/schemas/Error', 'reads'),
    change: refusals((error, status) =>
      status === 429 ? { body: { success: false, error: { ...error, code: 'too_many_requests' } } } : {},
    ),
  },
  {
    id: 'limited-without-headers',
    says: 'A 429 has no header about the quota.',
    ...violation('X-RateLimit', 'reads'),
    change: sends(({ headers, status }) =>
      status === 429
        ? { headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('X-RateLimit'))) }
        : undefined,
    ),
  },
  {
    id: 'quota-per-account',
    says: 'Keys share their limits.',
    ...permitted('quota-scope', 1, 'keys'),
    hidden: 'With one key, what another key spends looks like any other client.',
    change: (parts) => {
      parts.bucketOf = (_, path) => path
    },
  },
]
