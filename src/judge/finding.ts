/**
 * What a difference between a service and the stand-in means. Each difference has exactly one label.
 * - `contract violation`: the request or the response does not obey openapi.yaml.
 * - `broken rule`: the service did not keep a sentence of the specification, an `x-rule`.
 * - `decides assumption`: the specification permits it, and it is the alternative of an assumption. No failure.
 * - `another choice`: the specification leaves it open, and no alternative of openapi.yaml is like it. No failure.
 * - `unexplained`: no alternative and no possible state of the account explains it.
 * - `cannot tell`: the account is not known, another client may have changed it, or the recording lacks a part.
 */
export const LABELS = [
  'contract violation',
  'broken rule',
  'unexplained',
  'cannot tell',
  'another choice',
  'decides assumption',
] as const
export type Label = (typeof LABELS)[number]

/** One difference, as reports have it. */
export interface JudgedDifference {
  /**
   * The same id in every run, so that a baseline can name the difference. It has the label, the operation, the status
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
  /** Absent if no response came. */
  status?: number
  /** Where openapi.yaml says what is expected. */
  pointer?: string
  /** One or two sentences. It may quote what the service sent, but never a key. */
  message: string
  /** The beginning of the body of the request, and of the response, if they are known and not empty. */
  asked?: string
  answered?: string
  /** With `another choice`: what an overlay would have to say, so that the stand-in makes this choice. */
  overlay?: string
}

/** The first finding of an id, and how many findings have it. */
export interface KeptFinding extends JudgedDifference {
  count: number
}

/** Whether a finding means that the service, or its client, did something wrong. */
export function isFailure({ label }: Pick<JudgedDifference, 'label'>): boolean {
  return label === 'contract violation' || label === 'broken rule' || label === 'unexplained'
}

/** The party that caused a finding. */
export type Party = 'client' | 'service'

/** The client if the request breaks the contract; the service for everything else. */
export function partyOf({ id, label }: Pick<JudgedDifference, 'id' | 'label'>): Party {
  return label === 'contract violation' && id.split('/')[3] === 'request' ? 'client' : 'service'
}

/** Whose mistakes fail a run. */
export const FAIL_ON = ['service', 'client', 'both'] as const
export type FailOn = (typeof FAIL_ON)[number]

/** Whether a finding fails a run. */
export function isCounted(finding: Pick<JudgedDifference, 'id' | 'label'>, failOn: FailOn): boolean {
  return isFailure(finding) && (failOn === 'both' || partyOf(finding) === failOn)
}
