import { expect, it } from 'vitest'
import { OptionError, startUnderstudy } from '../../src/index.ts'
import { askControl } from '../support/control-plane.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { asks } from '../support/rows.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** About 18 MiB, which is more than half of what accounts may have of 32 MiB. */
const LARGE = { domains: Array.from({ length: 30_000 }, (_, index) => `host-${index}.example`) }
/** Not the store of the test, which has no limit. */
const LIMITED = { maxMemory: 32 * 2 ** 20, store: undefined, fixture: 'empty', enforceQuotas: false }

it('Where the memory for accounts is used up, the control plane answers 507, says who holds what, and changes nothing', async () => {
  const service = await startService(LIMITED)
  for (const refused of [
    asks('PUT', '/accounts/default/state', LARGE),
    asks('POST', '/accounts/default/reset', { fixture: LARGE }),
  ]) {
    const refusal = await refused(service)
    expect([refusal.status, refusal.error.code]).toEqual([507, 'insufficient_storage'])
    expect(refusal.error.message).toMatch(
      /would need [\d.]+ MiB more: it holds [\d.]+ MiB, and [\d.]+ of 24 MiB are free\./,
    )
  }
  expect((await askControl(service, 'GET', '/accounts')).data.accounts).toMatchObject([{ id: 'default', domains: 0 }])
})

it('The option maxMemory is at most what the heap of Node.js permits', async () => {
  const refusal = await startUnderstudy({ maxMemory: 2 ** 40 }).catch((error) => error)
  expect(refusal).toBeInstanceOf(OptionError)
  expect(refusal.message).toMatch(
    /^maxMemory 1099511627776: must be at most [\d.]+[MG]iB, because the heap of Node\.js ends at .*gives it more\.$/,
  )
})
