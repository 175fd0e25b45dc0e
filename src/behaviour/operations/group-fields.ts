import type { FieldSample } from '../operation.ts'

/** The name of a group that is created or changed. */
export const NAME: FieldSample = {
  make: (account) => account.freshName(),
  because: 'a name is needed',
}

/** Domains that are to be members of a group. */
export const MEMBERS: FieldSample = {
  make: (account) => [account.member()],
  because: 'a monitored domain is needed',
}
