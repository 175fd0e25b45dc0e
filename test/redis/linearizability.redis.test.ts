import { setImmediate } from 'node:timers/promises'
import { describe, it } from 'vitest'
import { isCall, next } from '../support/cutting-proxy.ts'
import { createRandom } from '../support/random.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { startPatient } from '../support/replicas.ts'
import { API_KEY } from '../support/service.ts'
import { expectLinearizable } from './linearizability.ts'

const SEED = 1

describe.skipIf(!HAS_REDIS)('What concurrent clients see of three servers on one Redis', () => {
  // Longer, and with servers and a Redis that are killed: linearizability.night.test.ts.
  it('is what they would see of one server, while connections are cut and replies are lost', async () => {
    const random = createRandom(SEED)
    let requests = 0
    await expectLinearizable({
      seed: SEED,
      clients: 5,
      requests: 25,
      rest: async () => void requests++,
      start: (where) => startPatient({ ...where, fixture: 'empty', apiKey: API_KEY }),
      async trouble({ proxies }, isOver) {
        for (let trouble = 0; !isOver(); await setImmediate()) {
          if (requests < 10 * (trouble + 1)) continue
          const proxy = proxies[Math.floor(random() * proxies.length)]
          if (trouble++ % 2 === 0) proxy?.cut()
          else proxy?.loseReplies(next(1, isCall))
        }
      },
    })
  })
})
