import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Fixture } from '../../src/domain/fixture.ts'
import type { Json } from '../../src/ground/json.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import { startUnderstudy } from '../../src/server/understudy.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const setting = (name: string, value: unknown) => ({ target: `$['x-settings']['${name}']`, update: { value } })
const schema = (name: string, update: Json) => ({ target: `$.components.schemas.${name}`, update })
const overlayOf = (action: object) => writeOverlay(temporaryFolder(), [action])
const named = (...names: string[]): Fixture => ({ groups: names.map((name) => ({ name })) })
const COUNT = '$.components.schemas.DmarcRecord.properties.count'

interface Case {
  action: object
  /** What the contract of the package admits, and the overlay does not. */
  fixture: Fixture
  /** Where in the fixture, and why. */
  says: string
  /** The same for the kept account. */
  kept?: string
}

function inTwoGroups(value: string): Case {
  const reason = 'is "a.example", which is a member of another group'
  return {
    action: setting('shared-domains', value),
    fixture: { domains: ['a.example'], groups: ['X', 'Y'].map((name) => ({ name, domains: ['a.example'] })) },
    says: `/groups/1/domains/0: The value ${reason}.`,
    kept: `/account/groups/1/domains/0 ${reason}`,
  }
}

const CASES: Readonly<Record<string, Case>> = {
  'a domain in two groups': inTwoGroups('refused'),
  'a name that is too long for the schema': {
    action: schema('DomainGroupName', { maxLength: 5 }),
    fixture: named('A', 'Marketing'),
    says: '/groups/1/name: The value is "Marketing" but must have at most 5 characters.',
    kept: '/account/groups/1/name is "Marketing" but must have at most 5 characters',
  },
  'a fixed record': {
    action: { target: COUNT, update: { maximum: 1000 } },
    fixture: { domains: [{ name: 'a.example', record: { count: 1001 } }] },
    says: '/domains/0/record/count: The value is 1001 but must be at most 1000.',
  },
}
const rows = Object.entries(CASES)

async function startError(options: ServerOptions): Promise<string> {
  return startUnderstudy(options)
    .then((service) => service.stop())
    .then(() => 'It started.')
    .catch((error: unknown) => `${error}`)
}

describe('an overlay that contradicts the fixture', () => {
  it.each(rows)('stops the start: %s', async (_, { action, fixture, says }) => {
    expect(await startError({ fixture, overlays: [overlayOf(action)] })).toBe(`FixtureError: fixture#${says}`)
  })
})

describe('an overlay that contradicts a kept account', () => {
  it.each(rows.filter(([, { kept }]) => kept !== undefined))('stops the start: %s', async (_, row) => {
    const data = temporaryFolder()
    await (await startUnderstudy({ fixture: row.fixture, data })).stop()
    const file = join(data, 'account-default.json')
    const before = readFileSync(file, 'utf8')
    const error = await startError({ data, fixture: 'empty', overlays: [overlayOf(row.action)] })
    expect(error).toBe(`StoreError: ${file}: ${row.kept}; correct the file, or move it away`)
    expect(readFileSync(file, 'utf8')).toBe(before)
  })
})
