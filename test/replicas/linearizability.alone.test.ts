import { describe, expect, it } from 'vitest'
import { isKnown } from '../support/linearizability/history.ts'
import { faultsOfRun } from '../support/linearizability/judgement.ts'
import { GROUP_NAMES, lookAtEverything, runWorkload } from '../support/linearizability/workload.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { createAccountWithNewKey, startReplicaInProcess } from '../support/replicas.ts'
import { startService } from '../support/service.ts'
import { expectLinearizable, expectMeaningful, runReplicas } from './concurrent-run.ts'
import { TROUBLES_OF_CONNECTIONS } from './troubles.ts'

const SEED = Number(process.env['LINEARIZABILITY_SEED'] ?? 1)

describe('what concurrent clients see', () => {
  it('of one server in memory is what they would see one after the other', async () => {
    const { baseUrl } = await startService({ clock: Date.now })
    const accounts = [await createAccountWithNewKey(baseUrl), await createAccountWithNewKey(baseUrl)]
    const target = { accounts, baseUrls: () => [baseUrl] }
    const start = performance.now()
    const workload = { clients: 6, requests: 50, seed: SEED, start, rest: 2, patience: 2500 }
    const exchanges = [...(await runWorkload(target, workload)), ...(await lookAtEverything(target, start))]
    expectLinearizable(exchanges, SEED)
    expectMeaningful(exchanges, 300)
    expect(exchanges.every(isKnown)).toBe(true)
  })
})

describe.skipIf(!HAS_REDIS)('what concurrent clients see of three replicas', () => {
  // What is seen once is a fault: it is not tried again.
  it('is that of one server, while replies are lost, connections are cut and Redis restarts', {
    retry: 0,
  }, async () => {
    const run = { seed: SEED, troubles: TROUBLES_OF_CONNECTIONS, start: startReplicaInProcess, requests: 30 }
    const exchanges = await runReplicas(run)
    expectLinearizable(exchanges, SEED)
    expectMeaningful(exchanges, 180)
  })

  // A store that does not look for the operation does a change twice, or says that it is refused because of itself.
  it('would not be that without the id of the operation in each change', async () => {
    let rewritten = 0
    function forgetOperations(text: string): string {
      const forgetful = text.replace(/(local function find_record\(.*\)\n)/, '$1  if true then return nil end\n')
      if (forgetful !== text) rewritten++
      return forgetful
    }
    const troubles = ['replies are lost after the change']
    const faults: string[] = []
    for (let seed = SEED; faults.length === 0 && seed < SEED + 5; seed++) {
      const run = { seed, troubles, start: startReplicaInProcess, requests: 25, rewrite: forgetOperations }
      faults.push(...faultsOfRun(await runReplicas(run), GROUP_NAMES))
    }
    expect(rewritten).toBeGreaterThan(0)
    expect(faults.join('\n')).toMatch(/no order of these calls explains what they were told/)
  })
})
