import { widestOf } from '../../src/contract/widest.ts'
import { choices } from './choices.ts'

/** What the specification permits, made once for all tests of a worker. */
export const widest = widestOf(choices.contract)
