import { getEventListeners } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startUnderstudy } from '../../src/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const answers = (baseUrl: string) =>
  fetch(`${baseUrl}/domains`).then(
    () => true,
    () => false,
  )

it('A server stops when its signal is aborted, and has saved everything', async () => {
  const controller = new AbortController()
  const data = temporaryFolder()
  const understudy = await startUnderstudy({ fixture: 'empty', data, signal: controller.signal })
  expect(await answers(understudy.baseUrl)).toBe(true)
  controller.abort()
  await expect.poll(() => answers(understudy.baseUrl)).toBe(false)
  await expect.poll(() => existsSync(join(data, '.lock'))).toBe(false)
})

it('A start whose signal is aborted rejects with the reason of the signal, and leaves nothing open', async () => {
  const reason = new Error('enough')
  const data = temporaryFolder()
  const controller = new AbortController()
  const starting = startUnderstudy({ fixture: 'empty', data, signal: controller.signal })
  controller.abort(reason)
  await expect(starting).rejects.toBe(reason)
  expect(existsSync(join(data, '.lock'))).toBe(false)
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
})

it('A start with a signal that is aborted already does nothing', async () => {
  const data = join(temporaryFolder(), 'data')
  const start = startUnderstudy({ data, signal: AbortSignal.abort('late') })
  await expect(start).rejects.toBe('late')
  expect(existsSync(data)).toBe(false)
})
