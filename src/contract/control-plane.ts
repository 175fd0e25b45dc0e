import type { Operations, Schemas } from './control-document.ts'

export type { Schemas }

type DeepReadonly<Value> = Value extends object ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> } : Value

/** The operationId of an operation that answers with data. */
export type CallId = {
  [Id in keyof Operations]: Operations[Id] extends { data: unknown } ? Id : never
}[keyof Operations]

/** The `data` of the success response of an operation. */
export type DataOf<Id extends keyof Operations> = Operations[Id] extends { data: infer Data } ? Data : never

/** The body of a request; `undefined` if the operation reads none. */
export type BodyOf<Id extends keyof Operations> = 'body' extends keyof Operations[Id]
  ? DeepReadonly<NonNullable<Operations[Id]['body']>>
  : undefined

/** The parameters in the path of an operation. */
export type PathOf<Id extends keyof Operations> = Operations[Id] extends { path: infer Path } ? Path : object

/** The parameters of its query. */
export type QueryOf<Id extends keyof Operations> = Operations[Id] extends { query: infer Query } ? Query : object

// The names of the library for what it passes on.
export type AccountReport = Schemas['Account']
export type ClockReport = DataOf<'getClock'>
export type DailyRecords = DataOf<'listDailyRecords'>['days'][number]
export type DomainEvent = MonitoredDomainReport['events'][number]
export type DomainReport = DataOf<'setFeatures'>
export type FaultReport = Schemas['Fault']
export type FaultSetReport = DataOf<'listFaultSets'>['sets'][number]
export type GroupReport = Schemas['Group']
export type KeyReport = Schemas['Key']
export type MonitoredDomainReport = Schemas['MonitoredDomain']
export type OverviewReport = Schemas['Overview']
type QuotasReport = DataOf<'getQuotas'>
export type QuotaReport = QuotasReport['quotas'][number]
export type SnapshotReport = Schemas['Snapshot']
export type StoryReport = Schemas['Story']
export type VerdictReport = Schemas['Verdict']
export type VerificationReport = DataOf<'verifyRequests'>
