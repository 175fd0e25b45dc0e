import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type LockOptions, lockFolder } from '../../../src/store/folder/folder-lock.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const ours = { pid: process.pid, host: hostname() }
const HAS_PROC = existsSync('/proc/self/stat')
/** Where the pids of this machine, or of this container, count. */
const SPACE = HAS_PROC
  ? `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  : hostname()

/** A folder and the path of its lock. */
function makeFolder() {
  const folder = temporaryFolder()
  const path = join(folder, '.lock')
  return { folder, path, lock: () => JSON.parse(readFileSync(path, 'utf8')) }
}

/** Timers that pass when the test says so. `onPause` is called with the milliseconds that were waited so far. */
function handTimers(onPause: (waited: number) => unknown = () => {}) {
  let waited = 0
  const repeated = new Set<() => void>()
  return {
    async pause(milliseconds: number) {
      waited += milliseconds
      onPause(waited)
    },
    repeat(_: number, task: () => void) {
      repeated.add(task)
      return () => void repeated.delete(task)
    },
    tick: () => repeated.forEach((task) => void task()),
    waited: () => waited,
    repeats: () => repeated.size,
  }
}

async function hold(folder: string, options?: LockOptions) {
  const held = await lockFolder(folder, options)
  const release = () => held.release()
  onTestFinished(release)
  return { held, release }
}

describe('the lock of a folder', () => {
  it.each<[what: string, make: (path: string) => void]>([
    ['a link to nowhere', (path) => symlinkSync('nowhere', path)],
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
    ['a folder', (path) => mkdirSync(path)],
  ])('that is %s is refused and stays', async (_, make) => {
    const { folder, path } = makeFolder()
    make(path)
    await expect(lockFolder(folder)).rejects.toThrow(
      `${path} is not a regular file; remove it or choose another folder`,
    )
    expect(readdirSync(folder)).toEqual(['.lock'])
  })

  it('names its process, and refuses a second opening in the same process, by whatever path', async () => {
    const { folder, lock } = makeFolder()
    const link = join(temporaryFolder(), 'link')
    symlinkSync(folder, link)
    const outcomes = await Promise.allSettled([hold(folder), hold(folder)])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    for (const path of [folder, `${folder}/.`, link]) {
      const refused = { problem: 'locked', message: `${path} is open in this process already` }
      await expect(lockFolder(path)).rejects.toMatchObject(refused)
    }
    expect(lock()).toMatchObject(ours)
  })

  it('is renewed until it is let go, and can be taken again then', async () => {
    const { folder, path, lock } = makeFolder()
    const timers = handTimers()
    const { release } = await hold(folder, { timers })
    utimesSync(path, 1, 1)
    timers.tick()
    await expect.poll(() => statSync(path).mtimeMs).toBeGreaterThan(1_000)
    release()
    expect([timers.repeats(), readdirSync(folder)]).toEqual([0, []])
    await hold(folder)
    release()
    expect(lock()).toMatchObject(ours)
  })

  it('is left alone at the release when it is no longer ours, or has vanished with its folder', async () => {
    const { folder, path } = makeFolder()
    const { release } = await hold(folder)
    const theirs = JSON.stringify({ pid: process.pid, host: 'elsewhere' })
    writeFileSync(path, theirs)
    release()
    expect(readFileSync(path, 'utf8')).toBe(theirs)
    const vanishing = join(folder, 'data')
    const other = await hold(vanishing)
    rmSync(vanishing, { recursive: true })
    other.release()
    expect(existsSync(vanishing)).toBe(false)
  })

  it.each<[what: string, lose: (path: string) => void]>([
    ['removed', (path) => rmSync(path)],
    ['taken over', (path) => replaceBy(path, '{"pid":7,"host":"elsewhere"}')],
    ['copied with its folder', (path) => replaceBy(path, readFileSync(path, 'utf8'))],
  ])('is known to be lost when it was %s', async (_, lose) => {
    const { folder, path } = makeFolder()
    const { held } = await hold(folder)
    expect([await held.isKept(), held.isInPlace()]).toEqual([true, true])
    lose(path)
    expect([await held.isKept(), held.isInPlace()]).toEqual([false, false])
  })
})

// Nobody can tell from here whether such a process runs.
describe.each([
  ['of another host', 'process 7 on elsewhere', JSON.stringify({ pid: 7, host: 'elsewhere', space: 'x', began: '1' })],
  [
    'of another container with our host name and our pid',
    `process ${ours.pid} on ${ours.host}`,
    JSON.stringify({ ...ours, space: 'x', began: '1' }),
  ],
  ['that is empty', 'another process', ''],
  ['that was cut off', 'another process', JSON.stringify(ours).slice(0, -1)],
])('a lock %s', (_, holder, content) => {
  it('is taken over when it was not renewed for a while, and the user is told both', async () => {
    const { folder, path, lock } = makeFolder()
    writeFileSync(path, content)
    const said: string[] = []
    const timers = handTimers()
    await hold(folder, { waits: true, warn: (line) => said.push(line), timers })
    expect(lock()).toMatchObject(ours)
    expect([readdirSync(folder), timers.waited()]).toEqual([['.lock'], 10_000])
    expect(said).toEqual([
      `${folder} is locked by ${holder}, which cannot be seen from here: the start waits up to 10 seconds, and goes on if the lock is not renewed.`,
      `The lock of ${folder} is taken over from ${holder}, which has left it behind.`,
    ])
  })

  it('is refused as soon as it is renewed, however late, and at once where nobody may wait', async () => {
    const { folder, path } = makeFolder()
    writeFileSync(path, content)
    const refused = { problem: 'locked', message: expect.stringContaining(`${folder} is in use by ${holder}: `) }
    await expect(lockFolder(folder)).rejects.toMatchObject(refused)
    // The clock of the other machine is wrong.
    const timers = handTimers((waited) => waited === 9_000 && utimesSync(path, 1, 1))
    await expect(lockFolder(folder, { waits: true, timers })).rejects.toMatchObject(refused)
    expect([timers.waited(), readFileSync(path, 'utf8')]).toEqual([9_000, content])
  })
})

describe('a lock of another process of this machine', () => {
  /** Another process, which runs until it is killed, and its lock. */
  async function startOther() {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' })
    await once(child, 'spawn')
    const stop = async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    onTestFinished(stop)
    const began = HAS_PROC
      ? readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19]
      : undefined
    return { pid: child.pid, stop, began, lock: { pid: child.pid, host: hostname(), space: SPACE, began } }
  }

  it('is refused while it runs, with what to do, and is taken over when it was killed', async () => {
    const { folder, path, lock } = makeFolder()
    const other = await startOther()
    writeFileSync(path, JSON.stringify(other.lock))
    await expect(lockFolder(folder)).rejects.toMatchObject({
      problem: 'locked',
      message: `${folder} is in use by process ${other.pid} on ${hostname()}: stop it, choose another folder, or remove ${path} if that process is not a dmarc-understudy`,
    })
    expect([lock(), readdirSync(folder)]).toEqual([other.lock, ['.lock']])
    // It was killed while it took the lock over itself.
    writeFileSync(`${path}.next`, readFileSync(path))
    await other.stop()
    await hold(folder)
    expect([lock(), readdirSync(folder)]).toEqual([expect.objectContaining(ours), ['.lock']])
  })

  it.runIf(HAS_PROC)('is taken over when another process has the pid by now', async () => {
    const { folder, path, lock } = makeFolder()
    const other = await startOther()
    writeFileSync(path, JSON.stringify({ ...other.lock, began: `${Number(other.began) - 1}` }))
    await hold(folder)
    expect(lock()).toMatchObject(ours)
  })
})

/** Another file with this content takes the place of the file. */
function replaceBy(path: string, content: string): void {
  writeFileSync(`${path}.new`, content)
  renameSync(`${path}.new`, path)
}
