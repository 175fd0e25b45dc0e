import { Permitted } from '../../src/choices/permitted.ts'
import { choices } from './choices.ts'

/** What the document permits, compiled once for all tests of a worker. */
export const permitted = await Permitted.read(choices)
