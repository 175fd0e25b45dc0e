import type { FieldSample } from '../operation.ts'

/** The name of a group that is created or changed. */
export const NAME: FieldSample = {
  make: (account) => account.freshName(),
}

/** Domains that are to be members of a group. */
export const MEMBERS: FieldSample = {
  make: (account) => [account.member()],
}
