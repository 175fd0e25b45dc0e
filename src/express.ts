export {
  type ContractMiddleware,
  type ContractOptions,
  contract,
} from './server/express/contract.ts'
export type { ContractReport, ContractViolation } from './server/express/contract-report.ts'
export type { Middleware } from './server/express/mount.ts'
export { type RunningStandIn, standIn } from './server/express/stand-in.ts'
