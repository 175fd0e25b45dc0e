/**
 * What a difference between a service and the stand-in means. Each has exactly one label.
 * - `contract violation`: the request or the response does not obey openapi.yaml.
 * - `broken rule`: a sentence of the specification, an `x-rule`, was not kept.
 * - `decides assumption`: the specification permits it, and it is the alternative of an assumption. No failure.
 * - `unexplained`: no alternative and nothing that the account can hold explains it.
 * - `cannot tell`: what the account held is not known, another client may have changed it, or the recording lacks a part.
 */
export const LABELS = ['contract violation', 'broken rule', 'unexplained', 'cannot tell', 'decides assumption'] as const
export type Label = (typeof LABELS)[number]

/** One difference, as reports have it. */
export interface Finding {
  /**
   * The same for the same difference in every run, so that a baseline can name it: the label, the operation, the status
   * and what is wrong, such as `contract-violation/listDomains/200/response/data/domains`.
   */
  id: string
  label: Label
  /** The id of the `x-rule` that was broken. */
  rule?: string
  assumption?: string
  /** From 1. */
  alternative?: number
  /** The id of the exchange. */
  request_id?: string
  method: string
  /** Below the base path, with the query. */
  path: string
  /** Absent where no response came. */
  status?: number
  /** Where openapi.yaml says what is expected. */
  pointer?: string
  line?: number
  /** One or two sentences. It may quote what the service sent, but never a key. */
  message: string
}

/** Whether a finding means that the service, or its client, did something wrong. */
export function isFailure({ label }: Pick<Finding, 'label'>): boolean {
  return label === 'contract violation' || label === 'broken rule' || label === 'unexplained'
}

/** Who has done what a finding says. */
export type Party = 'client' | 'service'

/** The client, where a request breaks the contract; the service for everything else. */
export function partyOf({ id, label }: Pick<Finding, 'id' | 'label'>): Party {
  return label === 'contract violation' && id.split('/')[3] === 'request' ? 'client' : 'service'
}
