import { describe, expect, it } from 'vitest'
import { readLimits } from '../../src/contract/control-api.ts'
import { controlApi, startControlPlane } from '../support/control-plane.ts'

const PATH = '/accounts/default/keys'

describe('an API key', () => {
  it('shows its secret once, works at once and has a week of grace', async () => {
    const { post, get, ask, patch } = await startControlPlane()
    const { status, data } = await post(PATH, { label: 'CI' })
    expect(status).toBe(201)
    expect(data.api_key).toMatch(/^key_[0-9A-Za-z]{8}\.[0-9A-Za-z]{48}$/)
    const made = { id: data.api_key.slice(0, 12), label: 'CI', created_at: '2026-01-15T09:30:00Z' }
    expect(data.key).toEqual({ ...made, disabled: false, in_grace: true })
    const listed = await get(PATH)
    expect(listed.data.keys[1]).toEqual(data.key)
    expect(listed.text).not.toContain(data.api_key)
    expect((await ask(data.api_key, 'GET', '/domains')).headers['x-ratelimit-limit']).toBe('300')
    await patch('/accounts/default/clock', { advance: 'P7D' })
    expect((await get(PATH)).data.keys[1].in_grace).toBe(false)
  })

  it('can be disabled and enabled again', async () => {
    const { get, patch, ask, key } = await startControlPlane()
    const [{ id }] = (await get(PATH)).data.keys
    for (const [disabled, status] of [
      [true, 401],
      [false, 200],
    ]) {
      expect((await patch(`${PATH}/${id}`, { disabled })).data.key).toMatchObject({ id, disabled })
      expect((await ask(key, 'GET', '/domains')).status).toBe(status)
    }
  })

  it('is as old as is said', async () => {
    const { post } = await startControlPlane()
    const grace = async (created_at: string) => (await post(PATH, { created_at })).data.key
    expect(await grace('2026-01-08T09:30:00Z')).toMatchObject({ in_grace: false })
    expect(await grace('2026-01-08T09:30:01Z')).toMatchObject({ in_grace: true, created_at: '2026-01-08T09:30:01Z' })
    const { error } = await post(PATH, { created_at: '2026-01-15T09:30:00.001Z' })
    expect(error.message).toBe('`created_at` must not be in the future; the clock shows 2026-01-15T09:30:00Z.')
  })

  it('is one of so many', async () => {
    const { keysPerAccount: limit } = readLimits(controlApi)
    const keys = Array.from({ length: limit - 2 }, (_, index) => ({ key: `k${index}` }))
    const { post, put, get } = await startControlPlane({ fixture: { keys } })
    expect(await put('/accounts/default/state', { keys: [{ key: 'the-last' }] })).toMatchObject({ status: 200 })
    expect(await post(PATH)).toMatchObject({ status: 409, error: { code: 'too_many' } })
    expect(await put('/accounts/default/state', { keys: [{ key: 'one-more' }] })).toMatchObject({ status: 409 })
    expect((await get(PATH)).data.count).toBe(limit)
  })
})
