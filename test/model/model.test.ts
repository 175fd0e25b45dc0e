import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { openFolderStore } from '../../src/store/folder/folder-store.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { SETTINGS } from '../store/example-account.ts'
import { budget } from '../support/budget.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { openStoreAt } from '../support/redis-store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { allCommands, readEverything, reopening } from './commands.ts'
import { Model } from './model.ts'
import { type OpenStore, openService } from './service-under-test.ts'

// The same runs everywhere, so that a failure is nobody's luck. To explore further, and to find a failure again:
// MODEL_SEED=$RANDOM MODEL_RUNS=5000 npx vitest run test/model
const FULL_RUNS = 150
const RUNS = budget({ quick: 1, whole: 6, full: FULL_RUNS }, 'MODEL_RUNS')
const SEED = Number(process.env['MODEL_SEED'] ?? 20_260_115)
const PATIENCE = 60_000 + RUNS * 500

/** How often each situation was reached, over all runs. */
const reached = new Map<string, number>()

interface Ground {
  name: string
  /** Opens stores that keep the same accounts, one after the other, or at the same time where there are replicas. */
  prepare(): Promise<OpenStore>
  /** How many servers answer, which share what they keep. */
  replicas: number
  /** Whether accounts outlive a store, and whether their snapshots do. */
  keeps: false | { keepsSnapshots: boolean }
  isThere: boolean
}

const GROUNDS: readonly Ground[] = [
  { name: 'in memory', prepare: async () => async () => openMemoryStore(), replicas: 1, keeps: false, isThere: true },
  { name: 'in a folder', prepare: openingFolder, replicas: 1, keeps: { keepsSnapshots: false }, isThere: true },
  {
    name: 'on Redis, with two replicas',
    prepare: openingRedis,
    replicas: 2,
    keeps: { keepsSnapshots: true },
    isThere: HAS_REDIS,
  },
]

async function openingFolder(): Promise<OpenStore> {
  const folder = temporaryFolder()
  return () => openFolderStore(folder, SETTINGS)
}

async function openingRedis(): Promise<OpenStore> {
  const { port } = await sharedRedis()
  const prefix = freshPrefix()
  return (clock) => openStoreAt(port, prefix, clock)
}

for (const { name, prepare, replicas, keeps, isThere } of GROUNDS) {
  describe.skipIf(!isThere)(`the service with its accounts ${name}`, () => {
    it(`answers any ${RUNS} sequences of requests as the model does (seed ${SEED})`, {
      timeout: PATIENCE,
      // One store is enough where time is short: they keep the same promises.
      tags: keeps === false ? ['slow'] : [],
    }, async () => {
      const rare = keeps === false ? [] : [{ arbitrary: reopening(keeps), weight: 1 }]
      const sequences = fc.noBias(fc.commands(allCommands(rare), { maxCommands: 100, size: 'max' }))
      const property = fc.asyncProperty(sequences, async (commands) => {
        const model = new Model()
        const { real, stop } = await openService(await prepare(), reach, replicas)
        try {
          await fc.asyncModelRun(() => ({ model, real }), commands)
          if (keeps !== false) {
            await real.reopen()
            model.reopen(keeps)
          }
          await readEverything(model, real)
        } finally {
          await stop()
        }
      })
      await fc.assert(property, {
        numRuns: RUNS,
        seed: SEED,
        ...(process.env['MODEL_END'] !== undefined && { endOnFailure: true }),
      })
    })
  })
}

const IS_THOROUGH = RUNS >= FULL_RUNS
const SITUATIONS = IS_THOROUGH
  ? 'every answer that the contract documents, and the turns that matter'
  : 'every operation succeed'

// Without this, a generator that lost a kind of request would weaken the test and nobody would know.
it(`has had ${SITUATIONS}`, async () => {
  const { operations } = await loadContract()
  const answers = operations.flatMap(({ id, responses }) =>
    [...responses.values()].flatMap(({ status, codes }) =>
      codes.size === 0 ? [`${id} ${status}`] : [...codes].map((code) => `${id} ${status} ${code}`),
    ),
  )
  const possible = answers.filter((answer) => !answer.endsWith('internal_error'))
  const successes = operations.map(({ id, success }) => `${id} ${success.status}`)
  const expected = IS_THOROUGH ? [...possible, ...TURNS] : successes
  expect(expected.filter((situation) => !reached.has(situation))).toEqual([])
})

/** Operations of the control plane by an outcome that they must have had. */
const DEEDS = {
  '200': [
    ...['updateKey', 'deleteKey', 'updateQuota', 'removeMonitoredDomains', 'updateGroup', 'deleteGroup', 'setFeatures'],
    ...['unpinDmarc', 'restoreSnapshot', 'deleteSnapshot', 'resetAccount', 'importState', 'deleteFault'],
  ],
  '201': ['addMonitoredDomains', 'createGroup'],
  '400 invalid_value': ['updateAccount', 'updateClock', 'createKey', 'updateQuota', 'pinDmarc', 'addFault'],
  '400 invalid_fixture': ['resetAccount', 'importState'],
  '409 taken': ['createKey', 'takeSnapshot', 'importState'],
  '409 refused': ['addMonitoredDomains', 'createGroup', 'deleteGroup'],
}

const TURNS = [
  'no operation 404 not_found',
  'no operation 405 not_found',
  'group in other case: 404 not_found',
  'group of another account: 404 not_found',
  'former group: 404 not_found',
  'a name taken in another spelling',
  'a name spelt anew',
  'a domain added and removed at once',
  'a removed domain that left its groups',
  'more than 50 domains removed at once',
  'the empty record of a new domain',
  'figures of a domain that was processed just in time',
  'figures that changed from one day to another',
  'the service was opened again',
  'a record with fixed fields',
  ...Object.entries(DEEDS).flatMap(([outcome, operations]) => operations.map((operation) => `${operation} ${outcome}`)),
  ...['internal_error', 'rate_limited', 'unauthorized', 'not_found', 'duplicate_name'].flatMap((code) => [
    `an injected ${code}, before`,
    `an injected ${code}, after`,
  ]),
]

function reach(situation: string): void {
  reached.set(situation, (reached.get(situation) ?? 0) + 1)
}
