import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startObserved } from '../support/observed-service.ts'
import { ROOT } from '../support/program-process.ts'
import type { SentHeaders } from '../support/request.ts'
import { ODD } from './outcomes.ts'
import { expectReproduced } from './reproduced.ts'

describe('the code that sends a request again', () => {
  it('passes with vitest, for each outcome, and fails for another one', async () => {
    const program = join(ROOT, 'node_modules/vitest/vitest.mjs')
    await expectReproduced(
      'vitest',
      `${process.execPath} ${program} run --no-isolate --maxWorkers=2 --testTimeout=30000`,
    )
  })

  it.each([
    ['a request of no account', { headers: { authorization: 'Bearer nobody' } }, /belongs to no account/],
    [
      'a body of which only the beginning is kept',
      { body: { domains: [`${'a'.repeat(20_000)}.example`] } },
      /beginning of the body/,
    ],
  ])(
    'does not exist for %s, and a sentence says why',
    async (_, { headers = {}, body }: { headers?: SentHeaders; body?: object }, why) => {
      const { send, explain } = await startObserved()
      await send('POST', '/domains', body ?? { domains: ['a.example'] }, headers)
      const { reproduction, reproduction_note } = await explain()
      expect(reproduction).toBeNull()
      expect(reproduction_note).toMatch(why)
    },
  )

  it('says what of a large account it leaves out', async () => {
    const domains = Array.from({ length: 31 }, (_, index) => `d${index}.example`)
    const { send, explain } = await startObserved({ fixture: { domains } })
    await send('GET', '/domains')
    const ofList = await explain()
    expect(ofList.reproduction_note).toBe('The account had 31 domains and 0 groups. This one has only some of them.')
    expect(ofList.reproduction?.vitest).toContain(`// ${ofList.reproduction_note}\n`)
    expect(ofList.reproduction?.pytest).toContain(`# ${ofList.reproduction_note}\n`)
    await send('DELETE', '/domains', { domains: ['d30.example'] })
    const ofRemoval = await explain()
    expect(ofRemoval.reproduction_note).toMatch(/only those that matter for the request/)
    expect(ofRemoval.reproduction?.vitest).toContain("fixture: { domains: [{ name: 'd30.example'")
  })

  it('reads a secret key from API_KEY, and has the key of an account that is known to everybody', async () => {
    const service = await startObserved()
    await service.send('GET', '/domains')
    expect((await service.explain()).reproduction?.curl).toBe(
      `curl -sS -H "Authorization: Bearer $API_KEY" ${service.baseUrl}/domains`,
    )
    await service.send('GET', '/domains', undefined, { authorization: 'Bearer sandbox_shop' })
    expect((await service.explain()).reproduction?.curl).toBe(
      `curl -sS -H 'Authorization: Bearer sandbox_shop' ${service.baseUrl}/domains`,
    )
  })

  it('is for curl a line of which a shell reads the body as it was sent', async () => {
    const { send, explain } = await startObserved()
    const body = JSON.stringify({ name: ODD, domains: ["$(touch x) '", '`id`', '!!', '*', '\\'] })
    await send('POST', '/domaingroups', body)
    const script = `curl() { printf '%s\\n' "$@"; }\n${(await explain()).reproduction?.curl}`
    const { stdout, stderr } = spawnSync('sh', [], { input: script, encoding: 'utf8' })
    expect([stdout.split('\n').includes(body), stderr]).toEqual([true, ''])
  })

  it('sends no type where the request had none, and a rule that acts at once', async () => {
    const { send, explain, ask } = await startObserved()
    await send('POST', '/domains', { domains: ['a.example'] }, { 'content-type': null })
    expect((await explain()).reproduction?.curl).toContain('-H Content-Type: ')
    await ask('POST', '/accounts/default/faults', { respond: { status: 503 }, skip: 1 })
    for (let sent = 0; sent < 2; sent++) await send('GET', '/domains').catch(() => undefined)
    const { reproduction } = await explain()
    expect(reproduction?.vitest).toContain('status: 503')
    expect(reproduction?.vitest).not.toContain('skip')
  })

  it('needs no account as it was for what the contract forbids in every state', async () => {
    const { send, explain, ask } = await startObserved({ fixture: 'agency' })
    const { headers } = await send('POST', '/domains', { domain: 'a.example' })
    await ask('DELETE', '/accounts/default/requests')
    // The verdict keeps it although the journal has lost it.
    const { reproduction, changes } = await explain(headers['x-request-id'])
    expect(changes).toEqual([])
    expect(reproduction?.vitest).toContain("accountOptions: { fixture: 'empty'")
  })
})
