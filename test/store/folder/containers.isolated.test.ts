import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { exampleAccount, SETTINGS, watch } from '../example-account.ts'

type Module = typeof import('../../../src/store/folder/folder-lock.ts')

/** The program in a container of its own: its pids, such as 1, say nothing in the others. */
async function inContainer(pids: string, beforeWrite = async () => {}) {
  vi.resetModules()
  vi.doMock('node:fs', async (original) => {
    const fs = await original<typeof import('node:fs')>()
    function writeFile(file: number, content: string, done: (error: Error | null) => void): void {
      void beforeWrite().then(() => fs.writeFile(file, content, done))
    }
    return { ...fs, writeFile, readlinkSync: () => `pid:[${pids}]` }
  })
  const { lockFolder } = await import('../../../src/store/folder/folder-lock.ts')
  const { openFolderStore } = await import('../../../src/store/folder/folder-store.ts')
  return { lockFolder, openFolderStore }
}

/** Timers of a process that renews its locks only when the test says so. */
function handTimers(onPause: () => unknown = () => {}) {
  const tasks: (() => unknown)[] = []
  return {
    async pause() {
      await onPause()
    },
    repeat(_: number, task: () => unknown) {
      tasks.push(task)
      return () => {}
    },
    /** Resolves when they are renewed. */
    async renew() {
      for (const task of tasks) await task()
    },
  }
}

const lockIn = (folder: string) => readFileSync(join(folder, '.lock'), 'utf8')

async function take({ lockFolder }: Pick<Module, 'lockFolder'>, folder: string, timers = handTimers()) {
  const held = await lockFolder(folder, { waits: true, timers })
  onTestFinished(() => held.release())
  return held
}

describe('two containers with one volume', () => {
  it('never share it while the first one renews its lock', async () => {
    const folder = temporaryFolder()
    const [first, second] = [await inContainer('1'), await inContainer('2')]
    const timers = handTimers()
    await take(first, folder, timers)
    const before = lockIn(folder)
    let looks = 0
    const waiting = handTimers(() => (++looks === 4 ? timers.renew() : undefined))
    await expect(take(second, folder, waiting)).rejects.toThrow(`${folder} is in use by process ${process.pid} on `)
    expect([looks, lockIn(folder)]).toEqual([4, before])
  })

  it('that find the same dead lock do not both get it', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, '.lock'), '{"pid":1,"host":"killed","space":"x"}')
    const [first, second] = [await inContainer('1'), await inContainer('2')]
    const holders = { first: handTimers(), second: handTimers() }
    // Whoever has the lock renews it while the other one waits.
    const renewAll = async () => {
      await holders.first.renew()
      await holders.second.renew()
    }
    const outcomes = await Promise.allSettled([
      take(first, folder, { ...holders.first, pause: renewAll }),
      take(second, folder, { ...holders.second, pause: renewAll }),
    ])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { problem: 'locked' } })
    expect(readdirSync(folder)).toEqual(['.lock'])
  })

  it('is left alone by a container that was paused for so long that the other one has taken it over', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'account-acme.json')
    const [paused, other] = [await inContainer('1'), await inContainer('2')]
    const store = await paused.openFolderStore(folder, SETTINGS)
    await store.create(exampleAccount('acme'))
    const before = readFileSync(file, 'utf8')
    const held = await take(other, folder)
    const taken = lockIn(folder)

    const refused = {
      problem: 'unusable',
      message: expect.stringContaining(`${folder} is in use by process ${process.pid} on `),
    }
    await expect(store.update('acme', watch('a.example'))).rejects.toMatchObject(refused)
    await expect(store.create(exampleAccount('new'))).rejects.toMatchObject(refused)
    expect(await store.read('acme')).toMatchObject({ id: 'acme' })
    expect([readFileSync(file, 'utf8'), lockIn(folder)]).toEqual([before, taken])
    expect(readdirSync(folder)).toEqual(['.lock', 'account-acme.json'])

    // The other one has ended, and has changed nothing.
    held.release()
    await store.update('acme', watch('a.example'))
    expect(readFileSync(file, 'utf8')).toContain('a.example')
    await store.close()
  })

  it('is not written to by a container that loses it in the middle of a write', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'account-acme.json')
    const other = await inContainer('2')
    let loses = false
    const paused = await inContainer('1', async () => {
      if (loses) await take(other, folder)
    })
    const store = await paused.openFolderStore(folder, SETTINGS)
    await store.create(exampleAccount('acme'))
    const before = readFileSync(file, 'utf8')
    loses = true
    const refused = { message: expect.stringContaining('was removed or taken over while it was written to') }
    await expect(store.update('acme', watch('a.example'))).rejects.toMatchObject(refused)
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(readdirSync(folder)).toEqual(['.lock', 'account-acme.json'])
  })

  it('starts again in a new container after the first one was killed, and says so', async () => {
    const folder = temporaryFolder()
    const killed = await inContainer('1')
    await killed.lockFolder(folder, { timers: handTimers() })
    const { openFolderStore } = await inContainer('2')
    const said: string[] = []
    const timers = handTimers()
    const store = await openFolderStore(folder, SETTINGS, { warn: (line) => said.push(line), timers })
    expect(said).toEqual([
      expect.stringContaining(`${folder} is locked by process ${process.pid} on `),
      expect.stringContaining(`The lock of ${folder} is taken over from process ${process.pid} on `),
    ])
    await store.close()
    expect(readdirSync(folder)).toEqual([])
  })
})
