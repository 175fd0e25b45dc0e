import { LocalExchangeLog } from '../accounts/exchange-log.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { Contract } from '../contract/contract.ts'
import { DEFAULT_SEED } from '../domain/account.ts'
import { countAnonymousIds } from '../http/anonymous-ids.ts'
import { openMemoryStore } from '../store/memory.ts'
import { MemoryBudget } from '../store/memory-budget.ts'
import { ALWAYS_READY, type Readiness, type StoreState } from '../store/readiness.ts'
import type { Store, StoreExtras } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import type { OpenedStore, OpeningContext } from './opened-store.ts'
import type { CompleteOptions } from './option-table.ts'

/** Opens the store that the options name. @throws StoreError */
export async function openStore(options: CompleteOptions, context: OpeningContext): Promise<OpenedStore> {
  const { store, data } = options
  if (typeof store === 'string') {
    const { openSharedStore } = await import('./shared-store.ts')
    return openSharedStore({ ...options, store }, context)
  }
  const { contract, log, memory } = context
  const budget = new MemoryBudget(memory, (reason) => log.warn({ reason }, 'An account has no room to grow.'))
  if (store !== undefined) return ofOneServer({ ...ALWAYS_READY, kind: 'own' }, store, options, contract)
  if (data === undefined) {
    return ofOneServer(ALWAYS_READY, openMemoryStore({ clock: options.clock, budget }), options, contract)
  }
  return openFolder({ ...options, data }, context, budget)
}

async function openFolder(
  options: CompleteOptions & { data: string },
  { contract, log }: OpeningContext,
  budget: MemoryBudget,
): Promise<OpenedStore> {
  const { data, durability, skipDamaged, clock } = options
  const [{ fileName, openFolderStore }, { createKeptCheck }] = await Promise.all([
    import('../store/folder/folder-store.ts'),
    import('./kept-accounts.ts'),
  ])
  const skipped: string[] = []
  // No server starts without the account `default`, so this account cannot be left out.
  const isOfDefault = (error: StoreError) => error.file === fileName(DEFAULT_ACCOUNT)
  const skip = (error: StoreError) => {
    if (isOfDefault(error)) throw error
    skipped.push(error.message)
  }
  const readiness: { kind: 'folder'; state: StoreState } = { kind: 'folder', state: ALWAYS_READY.state }
  const opening = openFolderStore(data, contract.settings, {
    validate: createKeptCheck(contract, clock),
    durability,
    clock,
    budget,
    skipDamaged: skipDamaged ? skip : undefined,
    warn: (message) => log.warn({}, message),
    saving: (written, all) => log.info({ written, all }, 'The accounts are being saved.'),
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
    const remedy = isOfDefault(error) ? 'move it away' : 'leave the account out with --skip-damaged (skipDamaged)'
    throw new StoreError('damaged', `${error.message}; correct the file, or ${remedy}`, { cause: error })
  })
  return { ...ofOneServer(readiness, store, options, contract), skipped }
}

/** A store that no other server uses. */
function ofOneServer(
  readiness: Readiness,
  store: Store & StoreExtras,
  { clock, seed = DEFAULT_SEED }: CompleteOptions,
  { requestIds }: Contract,
): OpenedStore {
  return {
    store,
    recall: async (moment) => store.recall?.(moment),
    clock,
    readiness,
    nextId: countAnonymousIds(seed, requestIds),
    barrier: undefined,
    skipped: [],
    async openExchanges(parts) {
      const exchanges = new LocalExchangeLog(parts)
      store.listenOutdated?.((id, bytes) => exchanges.noteOutdated(id, bytes))
      return exchanges
    },
    watch: () => {},
    close: () => store.close(),
  }
}
