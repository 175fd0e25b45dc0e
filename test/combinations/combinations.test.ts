import { it } from 'vitest'
import { budget } from '../support/budget.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { inFolder, onRedis } from './places.ts'
import { playAny, SEED } from './play.ts'
import { standing } from './world.ts'

const RUNS = budget({ quick: 1, whole: 60, full: 2000 }, 'COMBINATIONS_RUNS')
const RUNS_ON_ALL = budget({ quick: 6, full: 3000 }, 'COMBINATIONS_RUNS')

it(
  `keeps what it has acknowledged in any ${RUNS} combinations of fixture, overlays, options and steps (seed ${SEED})`,
  { timeout: 120_000 + RUNS * 2000 },
  () => playAny(RUNS, [inFolder]),
)

it.skipIf(!HAS_REDIS)(
  `gives the same bytes in memory, in a folder and on two servers on Redis in any ${RUNS_ON_ALL} of them (seed ${SEED})`,
  { timeout: 120_000 + RUNS_ON_ALL * 10_000 },
  () => playAny(RUNS_ON_ALL, [inFolder, onRedis], standing),
)
