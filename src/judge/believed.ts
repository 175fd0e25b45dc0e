/** What is believed of a domain. All times are in milliseconds on the clock of the service. */
export interface DomainBelief {
  /** `undefined`: it is in doubt. */
  isMonitored: boolean | undefined
  /** As the last request or response spelt it. */
  spelling: string
  /** The number of its addition among all that were seen; absent if the addition was not seen. */
  order?: number
  /** How many additions had been seen when it was first seen; only if its own was not. */
  seenAfter?: number
  /** When the request that added it was answered; absent if that was not seen. */
  addedAt?: number
  /** When it was first seen since it was last not monitored. */
  knownSince: number
  /** Whether it had a record in a list of all records. */
  hadRecord: boolean
  /** The id of the exchange that showed it last. */
  by: string
}

/** What is believed of a group. */
export interface GroupBelief {
  /** Of a group in doubt, the rest is what it was before. */
  state: 'there' | 'gone' | 'in doubt'
  name: string
  /** In comparable form, in the order in which they were shown; `undefined` if they are not known. */
  members: ReadonlySet<string> | undefined
  /** Members that may have left the group: to another one, as in services where a domain has one group, or for an unclear reason. */
  mayHaveLeft: ReadonlyMap<string, 'to another' | 'unclear'>
  /** Whether the members are in the order in which they were added. */
  isInOrder: boolean
  /** The number of its creation among all additions that were seen; absent if the creation was not seen. */
  order?: number
  /** How many additions had been seen when it was first seen; only if its creation was not. */
  seenAfter?: number
  /** Whether nothing but its creation was seen. */
  isNew: boolean
  /** When the exchange that showed this was over. */
  at: number
  by: string
}

/** A group as a response shows it, with members in comparable form. */
export type SeenGroup = Pick<GroupBelief, 'name' | 'at' | 'by'> & {
  id: string
  members: ReadonlySet<string>
  isInOrder?: boolean
}

/** The exchange that shows something. */
export interface Source {
  by: string
  at: number
}
