import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { asOverlay } from '../../src/contract/overlay.ts'
import { whatBecameOf } from '../../src/contract/settings.ts'
import { assumptions } from '../support/alternatives.ts'

const DOT = 'final-dot is no longer a choice. One final dot of a hostname is dropped.'
const BODY = 'unread-bodies is no longer a choice. A body that no operation reads, such as that of GET, is ignored.'
const MEMBER = 'Member is no longer a choice. A member that is no hostname is refused with invalid_domain.'

describe('a choice that has no alternatives any more', () => {
  it.each<[target: string, update: object, reason: string]>([
    ["$['x-settings']['final-dot']", { value: 'refused' }, DOT],
    ["$['x-settings']", { 'final-dot': { value: 'refused' } }, DOT],
    ["$['x-settings']['unread-bodies']", { value: 'refused' }, BODY],
    ["$['components']['schemas']['Member']", { 'x-error': { format: 'not_monitored' } }, MEMBER],
  ])('is refused in an overlay, with the line of the documentation: %s', async (target, update, reason) => {
    const overlay = await asOverlay({ overlay: '1.0.0', actions: [{ target, update }] }, 'mine.yaml')
    await expect(loadContract({ overlays: [overlay] })).rejects.toThrow(reason)
  })

  it('has not the name of an assumption', () => {
    expect(assumptions.filter(({ id }) => whatBecameOf(id) !== undefined)).toEqual([])
    expect(whatBecameOf('constructor')).toBeUndefined()
  })
})
