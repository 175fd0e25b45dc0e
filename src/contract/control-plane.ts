import type { components, operations } from './control-document.ts'

/** What the control plane takes and answers, by the names in its document. */
export type Schemas = components['schemas']

type Operation = keyof operations
type Json<Message> = Message extends { content: { 'application/json': infer Body } } ? Body : never
type Success<Responses> = Responses extends { 200: infer Response } | { 201: infer Response } ? Json<Response> : never
type Data<Body> = Body extends { data: infer Value } ? Exclude<Value, undefined> : never
type DeepReadonly<Value> = Value extends object ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> } : Value

/** The `data` of the success response of an operation. */
export type DataOf<Id extends Operation> = Data<Success<operations[Id]['responses']>>

/** The operationId of an operation that answers with data. */
export type CallId = { [Id in Operation]: [DataOf<Id>] extends [never] ? never : Id }[Operation]

type Body<Request> = Request extends { requestBody: infer Message }
  ? Json<Message>
  : 'requestBody' extends keyof Request
    ? Json<NonNullable<Request['requestBody']>>
    : undefined

/** The body of a request; `undefined` if the operation reads none. */
export type BodyOf<Id extends Operation> = DeepReadonly<Body<operations[Id]>>

type ParametersOf<Id extends Operation> = operations[Id] extends { parameters: infer Parameters } ? Parameters : object

/** The parameters in the path of an operation. */
export type PathOf<Id extends Operation> = ParametersOf<Id> extends { path: infer Path } ? Path : object

/** The parameters of its query. */
export type QueryOf<Id extends Operation> =
  ParametersOf<Id> extends { query?: infer Query } ? NonNullable<Query> : object

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
