export {
  type ContractMiddleware,
  type ContractOptions,
  contract,
} from './server/contract.ts'
export type { ContractReport, ContractViolation } from './server/contract-report.ts'
export { type RunningStandIn, standIn } from './server/middleware.ts'
export type { Middleware } from './server/mount.ts'
