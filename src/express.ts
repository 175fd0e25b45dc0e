export { type ContractMiddleware, type ContractOptions, type ContractReport, contract } from './server/contract.ts'
export type { ContractViolation } from './server/contract-judge.ts'
export type { Middleware } from './server/middleware.ts'
export { type RunningStandIn, standIn } from './server/middleware.ts'
