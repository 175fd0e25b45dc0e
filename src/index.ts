export { FixtureError } from './accounts/fixture.ts'
export type { OperationId } from './behaviour/operations/operations.ts'
export type { Contract } from './contract/contract.ts'
export type {
  AccountReport,
  ClockReport,
  DailyRecords,
  DomainEvent,
  DomainReport,
  FaultReport,
  FaultSetReport,
  GroupReport,
  KeyReport,
  MonitoredDomainReport,
  OverviewReport,
  QuotaReport,
  SnapshotReport,
  StoryReport,
  VerdictReport,
  VerificationReport,
} from './contract/control-plane.ts'
export { ContractError } from './contract/extensions.ts'
export type { Bucket, Open, Plan } from './contract/names.ts'
export type { CoverageReport } from './coverage/report.ts'
export type { DmarcRecord, PolicyTags, ProfileName, RecordPin } from './domain/dmarc.ts'
export type { ErrorCode } from './domain/errors.ts'
export type { Fixture, Scene, SceneCall } from './domain/fixture.ts'
export type { ExplanationReport } from './explain/explanation.ts'
export type { Corruption } from './faults/corruption.ts'
export { FaultSetError } from './faults/fault-sets.ts'
export type { AccountEvent, ConnectionFault, KnownFaultRule as FaultRule } from './faults/kinds.ts'
export { type Clock, systemClock } from './ground/timers.ts'
export type { MessageReport, ProblemReport, RequestReport } from './journal/description.ts'
export type { RequestMatch } from './journal/match.ts'
export type {
  Account,
  AccountOptions,
  AccountWithKey,
  GroupChange,
  NewGroup,
  ResetOptions,
  Span,
} from './library/account.ts'
export { ControlError, type ControlErrorCode, type ControlProblem } from './library/control-error.ts'
export type { AllRequestsFilter, RequestEvents, RequestFilter } from './library/requests.ts'
export { ViolationError, type ViolationReport, type ViolationWatch, type WatchOptions } from './library/violations.ts'
export { OptionError, type ServerOptions, type TestOptions } from './server/options.ts'
export { startTestUnderstudy } from './server/test-service.ts'
export { startUnderstudy, type Understudy, type UnderstudyWithKey } from './server/understudy.ts'
export { StoreError } from './store/store-error.ts'
