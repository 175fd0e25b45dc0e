// The types of what the control plane takes and answers. The server defines them.
export type { BodyOf, CallId, DataOf, Schemas } from '../contract/control-plane.ts'
