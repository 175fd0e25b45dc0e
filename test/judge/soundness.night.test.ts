import { it } from 'vitest'
import { expectNoAccusation } from './soundness.ts'

const SEED = 8

it(
  `nobody is accused of 300 random sessions, whatever the stand-in has chosen, with and without other writers (seed ${SEED})`,
  {
    timeout: 3_600_000,
  },
  () => expectNoAccusation(SEED, 300),
)
