import { describe, it } from 'vitest'
import { budget } from '../support/budget.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { startReplicaProcess } from '../support/replica-process.ts'
import { expectLinearizable, expectMeaningful, runReplicas } from './concurrent-run.ts'
import { TROUBLES } from './troubles.ts'

// To run more, and to repeat one that failed:
// LINEARIZABILITY_RUNS=30 npx vitest run test/replicas/linearizability
// LINEARIZABILITY_RUNS=1 LINEARIZABILITY_SEED=7 npx vitest run test/replicas/linearizability
const SEED = Number(process.env['LINEARIZABILITY_SEED'] ?? 1)
const RUNS = budget({ quick: 1, full: 5 }, 'LINEARIZABILITY_RUNS')
/** Of each client. */
const REQUESTS = process.env['LINEARIZABILITY_RUNS'] === undefined ? budget({ quick: 30, full: 100 }) : 100
const ALL = Object.keys(TROUBLES)

/** The first five seeds have one kind of trouble each, and the sixth has all; then it begins again. */
function troublesOf(seed: number): readonly string[] {
  const name = ALL[(seed - 1) % (ALL.length + 1)]
  return name === undefined ? ALL : [name]
}

describe.skipIf(!HAS_REDIS)('what concurrent clients see of three replicas', () => {
  const seeds = Array.from({ length: RUNS }, (_, index) => SEED + index)
  const runs = seeds.map((seed) => ({ seed, troubles: troublesOf(seed), trouble: troublesOf(seed).join(', or ') }))

  // What is seen once is a fault: it is not tried again.
  it.for(runs)('is that of one server while $trouble (seed $seed)', { timeout: 120_000, retry: 0 }, async (run) => {
    const exchanges = await runReplicas({ ...run, start: startReplicaProcess, requests: REQUESTS })
    expectLinearizable(exchanges, run.seed)
    expectMeaningful(exchanges, 6 * REQUESTS)
  })
})
