import { load } from 'js-yaml'
import { describe, expect } from 'vitest'
import { overlayFor } from '../../src/contract/assumptions.ts'
import { assumptions, document } from '../support/alternatives.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { PROGRAM, runShell } from '../support/program-process.ts'

describe('assumptions', () => {
  it('lists each with its place, the gap, the choice and the alternatives', async () => {
    const { code, stdout, stderr } = await runInProcess(['assumptions'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const blocks = stdout.trimEnd().split('\n\n')
    expect(blocks.map((block) => block.split('\n')[0])).toEqual(assumptions.map(({ id }) => id))
    expect(blocks.find((block) => block.startsWith('status-not-monitored\n'))?.split('\n')).toEqual([
      'status-not-monitored',
      '  stands at    /components/x-errors/not_monitored',
      '  left open    HTTP status codes for each error code: not shown.',
      '  our choice   {"status":400}',
      '  or 1         {"status":404}',
      '  or 2         {"status":409}',
      '  or 3         {"status":422}',
    ])
  })

  it('says of an assumption without alternatives why there is none', async () => {
    const { stdout } = await runInProcess(['assumptions'])
    const { reason } = assumptions.find(({ id }) => id === 'policies') ?? {}
    expect(stdout.split('\n')).toContain(`  no other     ${reason}`)
    await expectRefusal(
      ['assumptions', 'overlay', 'policies'],
      2,
      `assumptions overlay policies: has no alternative. ${reason}`,
    )
  })

  it('prints the same as JSON', async () => {
    const { code, stdout } = await runInProcess(['assumptions', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(assumptions)))
  })

  it.each([
    ['head', '1', []],
    ['body-limit', '2', []],
    ['request-id-format', '1', []],
    ['add-domains-status', '1', []],
    ['status-plan-too-low', '2', []],
    ['blank-names', '1', ['--json']],
    ['update-group-response', '1', ['--json']],
  ])('prints the overlay of %s, alternative %s, with %j', async (id, number, flags) => {
    const assumption = assumptions.find((each) => each.id === id)
    const alternative = assumption?.alternatives[Number(number) - 1]
    if (assumption === undefined || alternative === undefined) throw new Error(`There is no ${id} ${number}.`)
    const { code, stdout, stderr } = await runInProcess(['assumptions', 'overlay', id, number, ...flags])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(flags.length > 0 ? JSON.parse(stdout) : load(stdout)).toEqual({
      overlay: '1.0.0',
      info: { title: `${id}, alternative ${number}`, version: '1.0.0' },
      actions: overlayFor(assumption, alternative, document.source).actions,
    })
  })

  it('prints the overlay of the first alternative when no number is given', async () => {
    const [first, silent] = await Promise.all([
      runInProcess(['assumptions', 'overlay', 'body-limit', '1']),
      runInProcess(['assumptions', 'overlay', 'body-limit']),
    ])
    expect(silent).toEqual(first)
  })

  it.each<[args: string[], message: string | RegExp]>([
    [
      ['overlay', 'nonsense'],
      'assumptions overlay nonsense: must be the id of an assumption; the command assumptions lists them',
    ],
    [['overlay', 'domain-cpa'], /must be the id of an assumption; did you mean domain-cap\?$/],
    [['overlay'], /must be the id of an assumption; the command assumptions lists them$/],
    [['overlay', 'body-limit', '0'], 'assumptions overlay body-limit 0: must be one of its 2 alternatives, from 1'],
    [['overlay', 'body-limit', '3'], 'assumptions overlay body-limit 3: must be one of its 2 alternatives, from 1'],
    [['overlay', 'body-limit', 'two'], 'assumptions overlay body-limit two: must be one of its 2 alternatives, from 1'],
    [['overlay', 'body-limit', '1', '2'], 'assumptions overlay body-limit 1 2: must be overlay ID [N], or nothing'],
    [['list'], 'assumptions list: must be overlay ID [N], or nothing'],
    [['--port', '1'], '--port is no option here; there are --json, --overlay'],
    [['--json=perhaps'], '--json perhaps: must be true or false'],
    [['--overlay', 'nowhere.yaml'], 'nowhere.yaml: The overlay cannot be read (ENOENT).'],
  ])('refuses %j with exit code 2 and one line', async (args, message) => {
    await expectRefusal(['assumptions', ...args], 2, message)
  })

  it('make an overlay that serve takes', async ({ serve, folder }) => {
    const program = `'${process.execPath}' '${PROGRAM}'`
    const written = await runShell(`${program} assumptions overlay create-group-status 1 > overlay.yaml`, { folder })
    expect(written).toEqual({ code: 0, stdout: '', stderr: '' })
    const group = { method: 'POST', body: '{"name":"Marketing"}' }
    const [chosen, otherwise] = await Promise.all([
      serve([], { folder }),
      serve(['--overlay', 'overlay.yaml'], { folder }),
    ])
    expect((await chosen.request('/domaingroups', group)).status).toBe(200)
    expect((await otherwise.request('/domaingroups', group)).status).toBe(201)
  })
})
