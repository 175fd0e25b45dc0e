import { describe, expect, it, onTestFinished } from 'vitest'
import { withKey } from '../support/account.ts'
import { budget } from '../support/budget.ts'
import { askControl, type ControlResponse, controlApi } from '../support/control-plane.ts'
import { spawnProgram } from '../support/program-process.ts'
import { sendRequest } from '../support/request.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const RULE = { respond: { error: 'internal_error' } }

/** Asks about one account, whose path stands for `ACCOUNT`. */
type Ask = (method: string, path: string, body?: object) => Promise<ControlResponse>
const ACCOUNT = '/accounts/{account}'
/** Reads something from the service with the key. */
type Read = (key: string) => Promise<unknown>

/** A change, and what shows it. */
interface Change {
  /** What has to be there before. */
  prepare?: (ask: Ask, read: Read) => Promise<unknown>
  make(ask: Ask): Promise<ControlResponse>
  /** What is shown after the change, and not before. */
  shown(ask: Ask): Promise<unknown>
}

const account = async (ask: Ask) => (await ask('GET', ACCOUNT)).data?.account ?? 'none'
const domains = async (ask: Ask) => (await ask('GET', `${ACCOUNT}/domains`)).data.domains
const faults = async (ask: Ask) => (await ask('GET', `${ACCOUNT}/faults`)).data.faults
const keys = async (ask: Ask) => (await ask('GET', `${ACCOUNT}/keys`)).data.keys
const snapshot = (ask: Ask) => ask('POST', `${ACCOUNT}/snapshots`, { name: 'first' })
const addKey = (ask: Ask) => ask('POST', `${ACCOUNT}/keys`, { label: 'mine' })
const addRule = (ask: Ask) => ask('POST', `${ACCOUNT}/faults`, RULE)
const pin = (ask: Ask) => ask('PUT', `${ACCOUNT}/domains/a.example/dmarc`, { p: 'reject' })
const groups = async (ask: Ask) => (await ask('GET', `${ACCOUNT}/groups`)).data.groups
const addGroup = (ask: Ask) => ask('POST', `${ACCOUNT}/groups`, { name: 'Shop', domains: ['a.example'] })
const firstGroup = async (ask: Ask) => `${ACCOUNT}/groups/${(await groups(ask))[0].id}`
const lastKey = async (ask: Ask) => `${ACCOUNT}/keys/${(await keys(ask)).at(-1).id}`

/** Every operation that writes what outlives the process. */
const CHANGES: Readonly<Record<string, Change>> = {
  createAccount: {
    make: (ask) => ask('POST', '/accounts', { id: 'created' }),
    shown: async (ask) => (await ask('GET', '/accounts/created')).status,
  },
  updateAccount: { make: (ask) => ask('PATCH', ACCOUNT, { plan: 'above-stone' }), shown: account },
  deleteAccount: { make: (ask) => ask('DELETE', ACCOUNT), shown: account },
  resetAccount: { prepare: addKey, make: (ask) => ask('POST', `${ACCOUNT}/reset`, {}), shown: keys },
  importState: { make: (ask) => ask('PUT', `${ACCOUNT}/state`, { domains: ['b.example'] }), shown: domains },
  restoreSnapshot: {
    prepare: async (ask) => {
      await snapshot(ask)
      await addKey(ask)
    },
    make: (ask) => ask('POST', `${ACCOUNT}/snapshots/first/restore`),
    shown: keys,
  },
  rewindAccount: {
    prepare: async (ask, read) => {
      await ask('POST', `${ACCOUNT}/keys`, { key: 'key-of-rewound' })
      await read('key-of-rewound')
      await addKey(ask)
    },
    make: async (ask) => {
      const [{ request_id }] = (await ask('GET', `${ACCOUNT}/requests`)).data.requests
      return ask('POST', `${ACCOUNT}/rewind`, { request_id })
    },
    shown: keys,
  },
  createKey: { make: addKey, shown: keys },
  updateKey: {
    prepare: addKey,
    make: async (ask) => ask('PATCH', await lastKey(ask), { disabled: true }),
    shown: keys,
  },
  deleteKey: { prepare: addKey, make: async (ask) => ask('DELETE', await lastKey(ask)), shown: keys },
  setFeatures: {
    make: (ask) => ask('PUT', `${ACCOUNT}/domains/a.example/features`, { features: ['mta-sts'] }),
    shown: domains,
  },
  pinDmarc: { make: pin, shown: domains },
  unpinDmarc: { prepare: pin, make: (ask) => ask('DELETE', `${ACCOUNT}/domains/a.example/dmarc`), shown: domains },
  addMonitoredDomains: {
    make: (ask) => ask('POST', `${ACCOUNT}/domains`, { domains: ['b.example'] }),
    shown: domains,
  },
  removeMonitoredDomains: {
    make: (ask) => ask('DELETE', `${ACCOUNT}/domains`, { domains: ['a.example'] }),
    shown: domains,
  },
  createGroup: { make: addGroup, shown: groups },
  updateGroup: {
    prepare: addGroup,
    make: async (ask) => ask('PATCH', await firstGroup(ask), { name: 'Renamed' }),
    shown: groups,
  },
  deleteGroup: { prepare: addGroup, make: async (ask) => ask('DELETE', await firstGroup(ask)), shown: groups },
  updateClock: {
    make: (ask) => ask('PATCH', `${ACCOUNT}/clock`, { advance: 'P1D' }),
    shown: async (ask) => (await ask('GET', `${ACCOUNT}/clock`)).data,
  },
  updateQuota: {
    make: (ask) => ask('PATCH', `${ACCOUNT}/quotas`, { bucket: 'domains', remaining: 3 }),
    shown: async (ask) => (await ask('GET', `${ACCOUNT}/quotas`)).data.quotas,
  },
  addFaultSet: { make: (ask) => ask('POST', `${ACCOUNT}/fault-sets/flaky`, {}), shown: faults },
  addFault: { make: addRule, shown: faults },
  clearFaults: { prepare: addRule, make: (ask) => ask('DELETE', `${ACCOUNT}/faults`), shown: faults },
  deleteFault: {
    prepare: addRule,
    make: async (ask) => ask('DELETE', `${ACCOUNT}/faults/${(await faults(ask))[0].id}`),
    shown: faults,
  },
}

/** What belongs to the process: snapshots, journal and verdict end with it. */
const OF_THE_PROCESS = ['takeSnapshot', 'deleteSnapshot', 'clearRequests', 'verifyRequests', 'clearVerdict']

/** The changes that share a process, each in an account of its own: all in the quick run, some in the full one. */
const ALL = Object.entries(CHANGES)
const SHARING = budget({ quick: ALL.length, full: 5 })
const RUNS = Array.from({ length: Math.ceil(ALL.length / SHARING) }, (_, index) => {
  const changes = ALL.slice(index * SHARING, (index + 1) * SHARING)
  return [changes.map(([name]) => name).join(', '), changes] as const
})

/** Starts the program on the folder; `kill` ends it as the system would. */
async function serve(
  folder: string,
): Promise<{ about: (account: string) => Ask; read: Read; kill: () => Promise<unknown> }> {
  const now = ['--now', '2026-01-15T09:30:00Z', '--frozen']
  const program = spawnProgram(['serve', '--port', '0', '--data', folder, '--fixture', 'empty', ...now])
  onTestFinished(() => program.stop('SIGKILL'))
  const [, baseUrl = ''] = await program.prints(/(http:\/\/\S+\/api\/v1)/)
  return {
    about: (account) => (method, path, body) =>
      askControl({ baseUrl }, method, path.replace(ACCOUNT, `/accounts/${account}`), body),
    read: (key) => sendRequest('GET', `${baseUrl}/domains`, undefined, withKey(key)),
    kill: () => {
      program.stop('SIGKILL')
      return program.ended
    },
  }
}

describe('What the control plane has answered is there after a kill:', () => {
  it('every operation that writes is in the table, or writes nothing that is kept', () => {
    const writing = controlApi.operations.filter(({ method }) => method !== 'GET').map(({ id }) => id)
    expect([...Object.keys(CHANGES), ...OF_THE_PROCESS].toSorted()).toEqual(writing.toSorted())
  })

  it.each(RUNS)('%s', async (_, changes) => {
    const folder = temporaryFolder()
    const first = await serve(folder)
    const prepared = new Map<string, unknown>()
    for (const [name, { prepare, shown }] of changes) {
      const ask = first.about(name)
      const fixture = { domains: ['a.example'] }
      expect((await ask('POST', '/accounts', { id: name, frozen: true, fixture })).status).toBe(201)
      await prepare?.(ask, first.read)
      prepared.set(name, await shown(ask))
    }
    // No account gets another write after its change, which would keep the change as well.
    const made = await Promise.all(changes.map(([name, { make }]) => make(first.about(name))))
    await first.kill()
    for (const { status } of made) expect([200, 201]).toContain(status)
    const second = await serve(folder)
    for (const [name, { shown }] of changes) {
      expect(await shown(second.about(name)), name).not.toEqual(prepared.get(name))
    }
    await second.kill()
  })
})
