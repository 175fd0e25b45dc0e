import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { asOverlay } from '../../src/contract/overlay.ts'
import { SETTLED, whatBecameOf } from '../../src/contract/settled-choices.ts'
import { assumptions } from '../support/alternatives.ts'
import { ROOT } from '../support/program-process.ts'

const DOT = 'The setting final-dot is no longer a choice. One final dot of a hostname is dropped.'
const BODY =
  'The setting unread-bodies is no longer a choice. A body that no operation reads, such as that of GET, is ignored.'
const GRACE = "The factor for new keys is now one for all paths, at $['x-settings']['grace']."
const MEMBER = 'member-entries is no longer a choice. A member that is no hostname is refused with invalid_domain.'

describe('a choice that has no alternatives any more', () => {
  it('is in the documentation with what the stand-in does, and is no assumption', () => {
    const [, list = ''] = readFileSync(join(ROOT, 'docs/choices.md'), 'utf8').split('## Unusual input\n')
    const listed = (list.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('- '))
    expect(listed).toEqual(Object.entries(SETTLED).map(([id, { says }]) => `- ${says} (\`${id}\`)`))
    expect(assumptions.filter(({ id }) => whatBecameOf(id) !== undefined)).toEqual([])
  })

  it.each<[target: string, update: object, reason: string]>([
    ["$['x-settings']['final-dot']", { value: 'refused' }, DOT],
    ["$.x-settings['final-dot']", { value: 'refused' }, DOT],
    ["$['x-settings']", { 'final-dot': { value: 'refused' } }, DOT],
    ["$['x-settings']['unread-bodies']", { value: 'refused' }, BODY],
    ["$.paths['/dmarc']['x-quota']", { grace: 2 }, GRACE],
    ["$['components']['schemas']['Member']", { 'x-error': { format: 'not_monitored' } }, MEMBER],
  ])('is refused in an overlay, with what holds: %s', async (target, update, reason) => {
    const overlay = asOverlay({ overlay: '1.0.0', actions: [{ target, update }] }, 'mine.yaml')
    await expect(loadContract({ overlays: [overlay] })).rejects.toThrow(reason)
  })

  it.each([
    "$.components['x-errors'].not_found",
    "$['components']['x-errors']['not_found']",
    "$['x-errors']['not_found']",
  ])('is not the error catalogue, whose former place holds in an overlay as well: %s', async (target) => {
    const overlay = asOverlay({ overlay: '1.0.0', actions: [{ target, update: { status: 410 } }] }, 'mine.yaml')
    const { catalogue } = await loadContract({ overlays: [overlay] })
    expect(catalogue.answer({ code: 'not_found' }).status).toBe(410)
  })

  it('has one in its place where there is one', () => {
    expect(whatBecameOf('grace-dmarc')).toBe('grace-dmarc is now part of the assumption grace.')
    expect(whatBecameOf('grace')).toBeUndefined()
    expect(whatBecameOf('constructor')).toBeUndefined()
  })
})
