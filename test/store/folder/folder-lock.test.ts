import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, uptime } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type LockOptions, lockFolder } from '../../../src/store/folder/folder-lock.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const ours = { pid: process.pid, host: hostname() }

/** A folder and the path of its lock. */
function makeFolder() {
  const folder = temporaryFolder()
  const path = join(folder, '.lock')
  return { folder, path, lock: () => JSON.parse(readFileSync(path, 'utf8')) }
}

async function hold(folder: string, options?: LockOptions): Promise<() => void> {
  const release = await lockFolder(folder, options)
  onTestFinished(release)
  return release
}

/** A pause that takes no time. `onPause` is called with the milliseconds that were waited so far. */
function handPause(onPause: (waited: number) => unknown = () => {}) {
  let waited = 0
  return {
    async pause(milliseconds: number) {
      waited += milliseconds
      onPause(waited)
    },
    waited: () => waited,
  }
}

describe('the lock of a folder', () => {
  it('names its process, and refuses a second opening in the same process, by whatever path', async () => {
    const { folder, lock } = makeFolder()
    const link = join(temporaryFolder(), 'link')
    symlinkSync(folder, link)
    await hold(folder)
    for (const path of [folder, `${folder}/.`, link]) {
      const refused = { problem: 'locked', message: `${path} is open in this process already` }
      await expect(hold(path)).rejects.toMatchObject(refused)
    }
    expect(lock()).toEqual(ours)
  })

  it('is renewed until it is let go, and can be taken again then', async () => {
    const { folder, path } = makeFolder()
    const repeated = new Set<() => void>()
    const repeat = (_: number, task: () => void) => {
      repeated.add(task)
      return () => void repeated.delete(task)
    }
    const release = await hold(folder, { repeat })
    utimesSync(path, 1, 1)
    for (const task of repeated) task()
    expect(statSync(path).mtimeMs).toBeGreaterThan(1_000)
    release()
    expect([repeated.size, readdirSync(folder)]).toEqual([0, []])
    await hold(folder)
    release()
    expect(existsSync(path)).toBe(true)
  })

  it('is left alone at the release when it is no longer ours, or has vanished with its folder', async () => {
    const { folder, path } = makeFolder()
    const release = await hold(folder)
    const theirs = JSON.stringify({ pid: process.pid, host: 'elsewhere' })
    writeFileSync(path, theirs)
    release()
    expect(readFileSync(path, 'utf8')).toBe(theirs)
    const vanishing = join(folder, 'data')
    mkdirSync(vanishing)
    const releaseOther = await hold(vanishing)
    rmSync(vanishing, { recursive: true })
    releaseOther()
    expect(existsSync(vanishing)).toBe(false)
  })
})

// Nobody can tell from here whether such a process runs.
describe.each([
  ['of another host', 'process 7 on elsewhere', JSON.stringify({ pid: 7, host: 'elsewhere' })],
  ['that is empty', 'another process', ''],
  ['that was cut off', 'another process', JSON.stringify(ours).slice(0, -1)],
])('a lock %s', (_, holder, content) => {
  it('is taken over when it was not renewed for a while, and the user is told both', async () => {
    const { folder, path, lock } = makeFolder()
    writeFileSync(path, content)
    const { mtimeMs } = statSync(path)
    utimesSync(path, mtimeMs / 1000 - 11, mtimeMs / 1000 - 11)
    const said: string[] = []
    const { pause, waited } = handPause()
    await hold(folder, { warn: (line) => said.push(line), pause })
    expect([lock(), readdirSync(folder), waited()]).toEqual([ours, ['.lock'], 10_000])
    expect(said).toEqual([
      `${folder} is locked by ${holder}, which may have ended: the start waits up to 10 seconds, and goes on if the lock is not renewed.`,
      `The lock of ${folder} is taken over from ${holder}, which has left it behind.`,
    ])
  })

  it('is refused as soon as it is renewed, however late, and stays', async () => {
    const { folder, path } = makeFolder()
    writeFileSync(path, content)
    utimesSync(path, 1, 1)
    const { pause, waited } = handPause((now) => now === 9_000 && writeFileSync(path, content))
    const refused = { problem: 'locked', message: expect.stringContaining(`${folder} is in use by ${holder}: `) }
    await expect(hold(folder, { pause })).rejects.toMatchObject(refused)
    expect([waited(), readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([9_000, ['.lock'], content])
  })
})

describe('a lock of this machine', () => {
  /** Another process, which runs until it is killed. */
  async function startOther() {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' })
    await once(child, 'spawn')
    const stop = async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    onTestFinished(stop)
    return { stop, holder: { pid: child.pid, host: hostname() } }
  }

  it('is refused while its process runs, with what to do, and is taken over when that was killed', async () => {
    const { folder, path, lock } = makeFolder()
    const { holder, stop } = await startOther()
    writeFileSync(path, JSON.stringify(holder))
    const soonAfterStart = Date.now() / 1000 - uptime() + 60
    utimesSync(path, soonAfterStart, soonAfterStart)
    await expect(hold(folder)).rejects.toMatchObject({
      problem: 'locked',
      message: `${folder} is in use by process ${holder.pid} on ${hostname()}: stop it, choose another folder, or remove ${path} if that process is not a dmarc-understudy`,
    })
    expect([lock(), readdirSync(folder)]).toEqual([holder, ['.lock']])
    await stop()
    await hold(folder)
    expect([lock(), readdirSync(folder)]).toEqual([ours, ['.lock']])
  })

  it('is taken over when it is not renewed after a restart of the machine, in which another program has got its pid', async () => {
    const { folder, path, lock } = makeFolder()
    const { holder } = await startOther()
    writeFileSync(path, JSON.stringify(holder))
    utimesSync(path, 1, 1)
    const { pause, waited } = handPause()
    await hold(folder, { pause })
    expect([lock(), waited()]).toEqual([ours, 10_000])
  })

  it('is taken over when an earlier process had our pid, as in a container that is started again', async () => {
    const { folder, path, lock } = makeFolder()
    writeFileSync(path, JSON.stringify({ ...ours, began: '7' }))
    await hold(folder)
    expect(lock()).toEqual(ours)
  })
})
