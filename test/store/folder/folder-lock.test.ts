import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
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
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import * as timers from '../../../src/ground/timers.ts'
import { type LockOptions, lockFolder } from '../../../src/store/folder/folder-lock.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const ours = { pid: process.pid, host: hostname() }
const hasProc = existsSync('/proc/self/stat')
/** Where the pids of this machine, or of this container, count. */
const SPACE = hasProc
  ? `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  : hostname()

/** A folder, its lock, and the lock of those who take it over. */
function makeFolder() {
  const folder = temporaryFolder()
  return { folder, path: join(folder, '.lock'), next: join(folder, '.lock.next') }
}

function lockOf(folder: string): unknown {
  return JSON.parse(readFileSync(join(folder, '.lock'), 'utf8'))
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

async function lock(folder: string): Promise<() => void> {
  const { release } = await hold(folder)
  return release
}

async function expectTakenOver(folder: string): Promise<void> {
  await lock(folder)
  expect(lockOf(folder)).toMatchObject(ours)
  expect(readdirSync(folder)).toEqual(['.lock'])
}

/** Another file with this content takes the place of the file. */
function replaceBy(path: string, content: string): void {
  writeFileSync(`${path}.new`, content)
  renameSync(`${path}.new`, path)
}

describe('the lock of a folder', () => {
  it('names the process and its host', async () => {
    const { folder } = makeFolder()
    await lock(folder)
    expect(lockOf(folder)).toMatchObject(ours)
    if (existsSync('/proc')) expect(lockOf(folder)).toHaveProperty('began')
  })

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

  it('refuses a second opening in the same process, by whatever path, and stays', async () => {
    const { folder } = makeFolder()
    const link = join(temporaryFolder(), 'link')
    symlinkSync(folder, link)
    await lock(folder)
    for (const path of [folder, `${folder}/.`, link]) {
      const refused = { problem: 'locked', message: `${path} is open in this process already` }
      await expect(lockFolder(path)).rejects.toMatchObject(refused)
    }
    expect(lockOf(folder)).toMatchObject(ours)
  })

  it('lets one of two openings at the same time through', async () => {
    const { folder } = makeFolder()
    const outcomes = await Promise.allSettled([lock(folder), lock(folder)])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  // Nobody can tell from here whether such a process runs.
  describe.each([
    [
      'of another host',
      'process 7 on elsewhere',
      JSON.stringify({ pid: 7, host: 'elsewhere', space: 'x', began: '1' }),
    ],
    [
      'of another container with our host name and our pid',
      `process ${ours.pid} on ${ours.host}`,
      JSON.stringify({ ...ours, space: 'x', began: '1' }),
    ],
    ['that does not tell where its pid counts', `process ${ours.pid} on ${ours.host}`, JSON.stringify(ours)],
    ['that is empty', 'another process', ''],
    ['that was cut off', 'another process', JSON.stringify(ours).slice(0, -1)],
    ['that names no process', 'another process', '{"pid":0,"host":"elsewhere"}'],
    ['that names no host', 'another process', '{"pid":1}'],
  ])('%s', (_, holder, content) => {
    it('is taken over when it was not renewed for a while, and the user is told both', async () => {
      const { folder, path } = makeFolder()
      writeFileSync(path, content)
      const said: string[] = []
      const timers = handTimers()
      await hold(folder, { waits: true, warn: (line) => said.push(line), timers })
      expect(lockOf(folder)).toMatchObject(ours)
      expect(readdirSync(folder)).toEqual(['.lock'])
      expect(timers.waited()).toBe(10_000)
      expect(said).toEqual([
        `${folder} is locked by ${holder}, which cannot be seen from here: the start waits up to 10 seconds, and goes on if the lock is not renewed.`,
        `The lock of ${folder} is taken over from ${holder}, which has left it behind.`,
      ])
    })

    it('is refused as soon as it is renewed, however late', async () => {
      const { folder, path } = makeFolder()
      writeFileSync(path, content)
      // The clock of the other machine is wrong.
      const renew = (waited: number) => waited === 9_000 && utimesSync(path, 1, 1)
      const timers = handTimers(renew)
      const refused = { problem: 'locked', message: expect.stringContaining(`${folder} is in use by ${holder}: `) }
      await expect(lockFolder(folder, { waits: true, timers })).rejects.toMatchObject(refused)
      expect(timers.waited()).toBe(9_000)
      expect(readFileSync(path, 'utf8')).toBe(content)
    })

    it('is taken at once when it is given up', async () => {
      const { folder, path } = makeFolder()
      writeFileSync(path, content)
      const timers = handTimers((waited) => waited === 3_000 && rmSync(path))
      await hold(folder, { waits: true, timers })
      expect(timers.waited()).toBe(3_000)
      expect(lockOf(folder)).toMatchObject(ours)
    })

    it('is refused at once where nobody may wait', async () => {
      const { folder, path } = makeFolder()
      writeFileSync(path, content)
      await expect(lockFolder(folder)).rejects.toThrow(`${folder} is in use by ${holder}: `)
      expect(readFileSync(path, 'utf8')).toBe(content)
    })
  })

  it('is renewed until it is let go', async () => {
    const { folder, path } = makeFolder()
    const timers = handTimers()
    const { release } = await hold(folder, { timers })
    for (let again = 0; again < 2; again++) {
      utimesSync(path, 1, 1)
      timers.tick()
      await expect.poll(() => statSync(path).mtimeMs).toBeGreaterThan(1_000)
    }
    release()
    expect(timers.repeats()).toBe(0)
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

  it('is opened again by a process that could not renew it in time, whatever the file system remembers', async () => {
    const { folder, path } = makeFolder()
    const { held } = await hold(folder, { timers: handTimers() })
    // The same inode, as where the former file is remembered.
    writeFileSync(path, '{"pid":7,"host":"elsewhere"}')
    expect(await held.isKept()).toBe(true)
    const watch = vi.spyOn(timers, 'elapsed').mockReturnValue(timers.elapsed() + 6_000)
    onTestFinished(() => watch.mockRestore())
    expect([await held.isKept(), held.isInPlace()]).toEqual([false, false])
    expect(readFileSync(path, 'utf8')).toBe('{"pid":7,"host":"elsewhere"}')
  })

  it('is let go once, and not when another has it by then', async () => {
    const { folder } = makeFolder()
    const release = await lock(folder)
    release()
    expect(readdirSync(folder)).toEqual([])
    await lock(folder)
    release()
    expect(lockOf(folder)).toMatchObject(ours)
    await expect(lockFolder(folder)).rejects.toMatchObject({ problem: 'locked' })
  })

  it('is left alone at the release when it is no longer ours', async () => {
    const { folder, path } = makeFolder()
    const release = await lock(folder)
    const theirs = JSON.stringify({ pid: process.pid, host: 'elsewhere' })
    writeFileSync(path, theirs)
    release()
    expect(readFileSync(path, 'utf8')).toBe(theirs)
  })

  it('is released when the folder has vanished', async () => {
    const folder = join(temporaryFolder(), 'data')
    const release = await lock(folder)
    rmSync(folder, { recursive: true })
    release()
    expect(existsSync(folder)).toBe(false)
    await lock(folder)
  })
})

describe('the lock of a folder, and other processes:', () => {
  const THREAD = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module)
      .then(({ lockFolder }) => lockFolder(workerData.folder))
      .then((lock) => lock.release(), (error) => error.problem)
      .then((outcome) => parentPort.postMessage(outcome ?? 'locked it'))`

  /** Another process that has locked the folder and runs until it is killed. */
  async function otherProcess(folder: string) {
    const script = `
      const { readFileSync, writeFileSync } = require('node:fs')
      const began = ${hasProc} ? readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')[19] : undefined
      const host = require('node:os').hostname()
      const lock = JSON.stringify({ pid: process.pid, host, space: process.argv[2], began })
      writeFileSync(process.argv[1], lock, { flag: 'wx' })
      console.log('locked')
      process.stdin.resume()`
    const child = spawn(process.execPath, ['-e', script, join(folder, '.lock'), SPACE], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    async function kill(): Promise<void> {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    return { child, kill, isUsed: `${folder} is in use by process ${child.pid} on ${hostname()}: ` }
  }

  /** As the lock of that process would tell it. */
  function beginningOf({ pid }: ChildProcess): string {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? ''
  }

  it('refuses while another process runs that holds it, and is taken over when it was killed', async () => {
    const { folder, path } = makeFolder()
    const { kill, isUsed } = await otherProcess(folder)
    const before = readFileSync(path, 'utf8')
    await expect(lockFolder(folder)).rejects.toMatchObject({
      problem: 'locked',
      message: `${isUsed}stop it, choose another folder, or remove ${path} if that process is not a dmarc-understudy`,
    })
    expect(readFileSync(path, 'utf8')).toBe(before)
    expect(readdirSync(folder)).toEqual(['.lock'])
    await kill()
    await expectTakenOver(folder)
  })

  it('is taken over from a process that was killed while it took it over itself', async () => {
    const { folder, path, next } = makeFolder()
    const { kill } = await otherProcess(folder)
    writeFileSync(next, readFileSync(path))
    await kill()
    await expectTakenOver(folder)
  })

  it('is refused while another process takes it over', async () => {
    const [{ folder, path, next }, other] = [makeFolder(), makeFolder()]
    const { child } = await otherProcess(other.folder)
    writeFileSync(path, '{}')
    writeFileSync(next, readFileSync(other.path))
    const refused = lockFolder(folder, { waits: true, timers: handTimers() })
    await expect(refused).rejects.toThrow(`${folder} is in use by process ${child.pid} on ${hostname()}: `)
    expect(readdirSync(folder)).toEqual(['.lock', '.lock.next'])
  })

  it.runIf(existsSync('/proc/self/stat'))('is refused in another thread of the same process', async () => {
    // It takes long to load what makes the bundle.
    const { bundle } = await import('../../support/bundle.ts')
    const module = pathToFileURL(
      await bundle(new URL('../../../src/store/folder/folder-lock.ts', import.meta.url)),
    ).href
    const { folder } = makeFolder()
    const release = await lock(folder)
    async function lockInThread(): Promise<unknown> {
      const thread = new Worker(THREAD, { eval: true, workerData: { module, folder } })
      const [outcome] = await once(thread, 'message')
      await thread.terminate()
      return outcome
    }
    expect(await lockInThread()).toBe('locked')
    release()
    expect(await lockInThread()).toBe('locked it')
  })

  it.runIf(hasProc)('is taken over from a killed process that its parent does not collect', async () => {
    const { folder, path } = makeFolder()
    const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void parent.kill('SIGKILL'))
    const [output] = await once(parent.stdout, 'data')
    const pid = Number(output)
    const fields = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    // A shell would collect it.
    await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n')
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => fields()?.[0]).toBe('Z')
    writeFileSync(path, JSON.stringify({ pid, host: hostname(), space: SPACE, began: fields()?.[19] }))
    await hold(folder, { waits: true, timers: handTimers() })
    expect(lockOf(folder)).toMatchObject(ours)
  })

  it.runIf(existsSync('/proc/self/stat'))('is taken over when another process has the pid by now', async () => {
    const { folder, path } = makeFolder()
    const { child } = await otherProcess(folder)
    const began = beginningOf(child)
    const outcomes: unknown[] = []
    for (const since of [began, `${Number(began) - 1}`]) {
      writeFileSync(path, JSON.stringify({ pid: child.pid, host: hostname(), space: SPACE, began: since }))
      outcomes.push(
        await lockFolder(folder)
          .then((held) => held.release())
          .catch((error) => error.problem),
      )
    }
    expect(outcomes).toEqual(['locked', undefined])
  })
})
