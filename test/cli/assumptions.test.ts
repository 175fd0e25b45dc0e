import { load } from 'js-yaml'
import { describe, expect } from 'vitest'
import type { Json } from '../../src/ground/json.ts'
import { actionsFor, assumptions } from '../support/alternatives.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'

describe('assumptions', () => {
  it('lists each in one line: our choice, how many others there are, and what the specification leaves open', async () => {
    const { code, stdout, stderr } = await runInProcess(['assumptions'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [head, ...lines] = stdout.split('\n\n')[0]?.split('\n') ?? []
    expect(head).toMatch(/^assumption +our choice +others +left open *$/)
    expect(lines.map((line) => line.split(' ')[0])).toEqual(assumptions.map(({ id }) => id))
    expect(lines.filter((line) => line.length > 186)).toEqual([])
    const of = (id: string) => lines.find((line) => line.startsWith(`${id} `))?.split(/ {2,}/)
    expect(of('status-not-monitored')).toEqual([
      ...['status-not-monitored', '{"status":400}', '3', 'HTTP status codes for each error code: not shown.'],
    ])
    expect(of('create-group-status')?.[1]).toBe('{"responses":{"200":"DomainGroupCreated","201":null}}')
    expect(of('policies')).toEqual(['policies', expect.any(String), '0', expect.any(String)])
  })

  it.each<[id: string, lines: unknown[]]>([
    [
      'status-not-monitored',
      [
        'status-not-monitored',
        '  stands at    /x-errors/not_monitored',
        '  left open    HTTP status codes for each error code: not shown.',
        '  our choice   {"status":400}',
        '  or 1         {"status":404}',
        '  or 2         {"status":409}',
        '  or 3         {"status":422}',
        expect.stringMatching(/^ {2}observable {3}yes, by POST \/domaingroups with .*: the status \(if .*\)\.$/),
      ],
    ],
    [
      'plan-names',
      expect.arrayContaining(['  observable   no, because: No response says which plan the account has.']),
    ],
    ['policies', expect.arrayContaining([`  no other     ${assumptions.find(({ id }) => id === 'policies')?.reason}`])],
  ])('says all of %s', async (id, lines) => {
    const { code, stdout, stderr } = await runInProcess(['assumptions', id])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trimEnd().split('\n')).toEqual(lines)
    const printed = JSON.parse((await runInProcess(['assumptions', id, '--json'])).stdout)
    expect(printed).toMatchObject({ id, place: expect.any(String), observable: expect.any(Boolean) })
  })

  it('prints the same as JSON, as an overlay makes them', async ({ folder }) => {
    const overlay = writeOverlay(folder, [{ target: "$['x-settings']['body-limit']", update: { value: 10 } }])
    const environment = { DMARC_UNDERSTUDY_OVERLAY: overlay }
    const printed: Json[] = JSON.parse((await runInProcess(['assumptions', '--json'], { environment })).stdout)
    expect(printed.map(({ id }) => id)).toEqual(assumptions.map(({ id }) => id))
    const of = (name: string) => printed.find(({ id }) => id === name)
    expect(of('body-limit')).toMatchObject({ choice: { value: 10 } })
    const decide_with = { requests: [{ method: 'POST', path: '/domaingroups' }] }
    expect(of('status-not-monitored')).toMatchObject({ observable: true, decide_with })
    expect(of('plan-names')).toMatchObject({ observable: false, because: expect.any(String) })
  })

  it.each([
    ['body-limit', 1, []],
    ['body-limit', 2, ['2']],
    ['update-group-response', 1, ['1', '--json']],
  ])('prints the overlay of %s, alternative %d, with %j', async (id, number, more) => {
    const { code, stdout, stderr } = await runInProcess(['assumptions', 'overlay', id, ...more])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(more.includes('--json') ? JSON.parse(stdout) : load(stdout)).toEqual({
      overlay: '1.0.0',
      info: { title: `${id}, alternative ${number}`, version: '1.0.0' },
      actions: actionsFor(`${id}-${number}`),
    })
  })
})
