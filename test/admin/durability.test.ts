import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LOCK } from '../../src/store/folder/folder-lock.ts'
import { type ControlPlane, type ControlResponse, controlApi, startControlPlane } from '../support/control-plane.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Asks about one account, unless the path is that of another. */
type Ask = (method: string, path: string, body?: object) => Promise<ControlResponse>
/** A request about an account. */
type Request = [method: string, path: string, body?: object]
/** A change, what shows it afterwards and not before, and what is done before, such as to read the service with a key. */
type Change = [make: Request | ((ask: Ask) => Promise<Request>), shown: string, ...before: (Request | typeof READ)[]]

const KEY = 'key-of-mine'
const READ = `read the service with ${KEY}`
const addKey: Request = ['POST', '/keys', { label: 'mine' }]
const addRule: Request = ['POST', '/faults', { respond: { error: 'internal_error' } }]
const addGroup: Request = ['POST', '/groups', { name: 'Shop', domains: ['a.example'] }]
const snapshot: Request = ['POST', '/snapshots', { name: 'first' }]
const pin: Request = ['PUT', '/domains/a.example/dmarc', { p: 'reject' }]
/** The path of the last item of a list. */
const last = async (ask: Ask, list: string) => `/${list}/${(await ask('GET', `/${list}`)).data[list].at(-1).id}`

/** Every operation that writes what outlives the process. */
const CHANGES: Readonly<Record<string, Change>> = {
  createAccount: [['POST', '/accounts', { id: 'created' }], '/accounts/created'],
  updateAccount: [['PATCH', '', { plan: 'above-stone' }], ''],
  deleteAccount: [['DELETE', ''], ''],
  resetAccount: [['POST', '/reset', {}], '/keys', addKey],
  importState: [['PUT', '/state', { domains: ['b.example'] }], '/domains'],
  restoreSnapshot: [['POST', '/snapshots/first/restore'], '/keys', snapshot, addKey],
  rewindAccount: [
    async (ask) => ['POST', '/rewind', { request_id: (await ask('GET', '/requests')).data.requests[0].request_id }],
    '/keys',
    ['POST', '/keys', { key: KEY }],
    READ,
    addKey,
  ],
  createKey: [addKey, '/keys'],
  updateKey: [async (ask) => ['PATCH', await last(ask, 'keys'), { disabled: true }], '/keys', addKey],
  deleteKey: [async (ask) => ['DELETE', await last(ask, 'keys')], '/keys', addKey],
  setFeatures: [['PUT', '/domains/a.example/features', { features: ['mta-sts'] }], '/domains'],
  pinDmarc: [pin, '/domains'],
  unpinDmarc: [['DELETE', '/domains/a.example/dmarc'], '/domains', pin],
  addMonitoredDomains: [['POST', '/domains', { domains: ['b.example'] }], '/domains'],
  removeMonitoredDomains: [['DELETE', '/domains', { domains: ['a.example'] }], '/domains'],
  createGroup: [addGroup, '/groups'],
  updateGroup: [async (ask) => ['PATCH', await last(ask, 'groups'), { name: 'Renamed' }], '/groups', addGroup],
  deleteGroup: [async (ask) => ['DELETE', await last(ask, 'groups')], '/groups', addGroup],
  updateClock: [['PATCH', '/clock', { advance: 'P1D' }], '/clock'],
  updateQuota: [['PATCH', '/quotas', { bucket: 'domains', remaining: 3 }], '/quotas'],
  addFaultSet: [['POST', '/fault-sets/flaky', {}], '/faults'],
  addFault: [addRule, '/faults'],
  clearFaults: [['DELETE', '/faults'], '/faults', addRule],
  deleteFault: [async (ask) => ['DELETE', await last(ask, 'faults')], '/faults', addRule],
}

/** What belongs to the process: snapshots, journal and verdict end with it. */
const OF_THE_PROCESS = ['takeSnapshot', 'deleteSnapshot', 'clearRequests', 'verifyRequests', 'clearVerdict']

/** Starts a server that asks about the account `mine`, unless the path is that of another. */
async function serve(data: string): Promise<{ ask: Ask; plane: ControlPlane }> {
  const plane = await startControlPlane({ data, frozen: true })
  const ask: Ask = (method, path, body) =>
    plane.send(method, path.startsWith('/accounts') ? path : `/accounts/mine${path}`, body)
  return { ask, plane }
}

describe('What the control plane has answered is on the disk, where a kill leaves it:', () => {
  it('every operation that writes is in the table, or writes nothing that is kept', () => {
    const writing = controlApi.operations.filter(({ method }) => method !== 'GET').map(({ id }) => id)
    expect([...Object.keys(CHANGES), ...OF_THE_PROCESS].toSorted()).toEqual(writing.toSorted())
  })

  it.each(Object.entries(CHANGES))('%s', async (_, [make, shown, ...before]) => {
    const folder = temporaryFolder()
    const { ask, plane } = await serve(folder)
    await plane.create({ id: 'mine', frozen: true, fixture: { domains: ['a.example'] } })
    for (const step of before) await (step === READ ? plane.ask(KEY, 'GET', '/domains') : ask(...(step as Request)))
    const prepared = (await ask('GET', shown)).data
    // Nothing is written after the change, which would keep the change as well.
    const { status } = await ask(...(typeof make === 'function' ? await make(ask) : make))
    expect([200, 201]).toContain(status)
    const left = join(temporaryFolder(), 'left')
    cpSync(folder, left, { recursive: true })
    rmSync(join(left, LOCK))
    expect((await (await serve(left)).ask('GET', shown)).data).not.toEqual(prepared)
  })
})
