import { LocalExchangeLog } from '../accounts/exchange-log.ts'
import type { Contract } from '../contract/contract.ts'
import { DEFAULT_SEED } from '../domain/account.ts'
import { countAnonymousIds } from '../ground/chance.ts'
import { Accounts } from '../store/accounts.ts'
import type { Readiness, Store, StoreState } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import type { OpenedStore, OpeningContext } from './opened-store.ts'
import type { CompleteOptions } from './options.ts'

/** The readiness of a store that keeps everything in memory. */
const ALWAYS_READY: Readiness = { kind: 'memory', state: { isReady: true } }

/** Opens the store that the options name. @throws StoreError */
export async function openStore(options: CompleteOptions, context: OpeningContext): Promise<OpenedStore> {
  const { data, store: url } = options
  if (context.given !== undefined) return ofOneServer(ALWAYS_READY, context.given, options, context.contract)
  if (url !== undefined) {
    const { openSharedStore } = await import('./shared-store.ts')
    return openSharedStore({ ...options, store: url }, context)
  }
  if (data !== undefined) return openFolder({ ...options, data }, context)
  const { contract, log } = context
  const store = new Accounts({ clock: options.clock, warn: (message) => log.warn({}, message) })
  return ofOneServer(ALWAYS_READY, store, options, contract)
}

async function openFolder(
  options: CompleteOptions & { data: string },
  { contract, log }: OpeningContext,
): Promise<OpenedStore> {
  const { data, durability, clock } = options
  const [{ openFolderStore }, { createKeptCheck }] = await Promise.all([
    import('../store/folder/folder-store.ts'),
    import('./kept-accounts.ts'),
  ])
  const readiness: { kind: 'folder'; state: StoreState } = { kind: 'folder', state: ALWAYS_READY.state }
  const opening = openFolderStore(data, contract.settings, {
    clock,
    warn: (message) => log.warn({}, message),
    validate: createKeptCheck(contract, clock),
    durability,
    writeFailures: {
      began: (err) => {
        // Reads still work, so clients need not use another server.
        const limitation = 'Changes are refused, because they cannot be written to the data folder.'
        readiness.state = { isReady: true, limitation }
        log.error({ err }, 'Changes are refused, because they cannot be written.')
      },
      ended: () => {
        readiness.state = ALWAYS_READY.state
        log.info({}, 'Changes can be written again.')
      },
    },
  })
  const store = await opening.catch((error: unknown) => {
    if (!(error instanceof StoreError) || error.problem !== 'damaged') throw error
    throw new StoreError('damaged', `${error.message}; correct the file, or move it away`, { cause: error })
  })
  return ofOneServer(readiness, store, options, contract)
}

/** How many requests of each account keep what they found, if memory is scarce. */
const KEPT_PASTS = 50

/** A store that no other server uses. */
function ofOneServer(
  readiness: Readiness,
  store: Store & Partial<Pick<Accounts, 'listen'>>,
  { clock, seed = DEFAULT_SEED }: CompleteOptions,
  contract: Contract,
): OpenedStore {
  return {
    store,
    clock,
    readiness,
    nextId: countAnonymousIds(`${seed}`, contract.requestIds),
    async openExchanges(journal) {
      const exchanges = new LocalExchangeLog({ contract, journal })
      store.listen?.({
        ended: (accountId) => exchanges.end(accountId),
        scarce: () => journal.dropPasts(KEPT_PASTS),
      })
      return exchanges
    },
    watch: () => {},
    close: () => store.close(),
  }
}
