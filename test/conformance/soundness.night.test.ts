import { it } from 'vitest'
import { expectNoAccusation } from './soundness.ts'

const SEED = 8

it(
  `nobody is accused of what many random sessions show, whatever the stand-in has chosen (seed ${SEED})`,
  {
    timeout: 3_600_000,
  },
  () => expectNoAccusation(SEED, 200),
)
