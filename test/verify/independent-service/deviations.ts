import { CHANGES } from './deviations/changes.ts'
import type { Deviation } from './deviations/deviation.ts'
import { DOMAINS } from './deviations/domains.ts'
import { GROUPS } from './deviations/groups.ts'
import { KEYS_AND_RECORDS } from './deviations/keys-and-records.ts'
import { QUOTAS } from './deviations/quotas.ts'

const BY_SENTENCE = { ...QUOTAS, ...DOMAINS, ...KEYS_AND_RECORDS, ...GROUPS, ...CHANGES }

/** What the independent service does wrong, in a sentence. */
export type Wrong = keyof typeof BY_SENTENCE

/** All that the independent service can do wrong: what only the account shows, or several responses together. */
export const DEVIATIONS: Readonly<Record<Wrong, Deviation>> = BY_SENTENCE
