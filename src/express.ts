export {
  type ContractMiddleware,
  type ContractOptions,
  contract,
} from './doors/express/contract.ts'
export type { ContractReport, ContractViolation } from './doors/express/contract-report.ts'
export type { Middleware } from './doors/express/mount.ts'
export { type RunningStandIn, standIn } from './doors/express/stand-in.ts'
