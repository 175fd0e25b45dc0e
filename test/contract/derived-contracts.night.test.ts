import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { type Alternative, nameOf, settingOf } from '../../src/contract/choices.ts'
import { type Contract, compileContract } from '../../src/contract/contract.ts'
import { readSource } from '../../src/contract/document.ts'
import { applyOverlay } from '../../src/contract/overlay.ts'
import { choices } from '../support/choices.ts'

/** What a contract says, without its functions. */
function meaningOf({
  settings,
  operations,
  catalogue,
  requestIds,
  percentageStep,
  policyWithoutRecord,
  nameLimit,
}: Contract) {
  const codes = catalogue.codes.map((code) => [code, catalogue.answer({ code }), [...catalogue.statusesOf(code)]])
  const all = operations.map(({ id, quota, bodySchema, parameters, success, responses }) => [
    ...[id, quota, bodySchema, [...parameters], success.status, success.defaults],
    [...responses.values()].map(({ status, schema, constantHeaders, retryAfter, showsQuota, ...each }) => {
      return [status, [...each.codes].toSorted(), schema, constantHeaders, retryAfter, showsQuota]
    }),
  ])
  return [settings, codes, all, requestIds, percentageStep, policyWithoutRecord, nameLimit]
}

const source = await readSource()

async function compileAnew({ overlay }: Alternative): Promise<Contract> {
  return compileContract(await applyOverlay(source, overlay))
}

describe('the contract under an alternative', () => {
  const ofSettings = choices.alternatives.filter((each) => settingOf(each) !== undefined)

  it('is the same if it is derived from ours as if the document is compiled again', async () => {
    expect(ofSettings.length).toBeGreaterThan(40)
    for (const alternative of choices.alternatives) {
      const [derived, compiled] = await Promise.all([choices.compile([alternative]), compileAnew(alternative)])
      expect(isDeepStrictEqual(meaningOf(derived), meaningOf(compiled)), nameOf(alternative)).toBe(true)
    }
  })
})
