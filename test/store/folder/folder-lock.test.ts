import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { lockFolder } from '../../../src/store/folder/folder-lock.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const ours = { pid: process.pid, host: hostname() }

/** A folder, its lock, and the lock of those who take it over. */
function makeFolder() {
  const folder = temporaryFolder()
  return { folder, path: join(folder, '.lock'), next: join(folder, '.lock.next') }
}

function lockOf(folder: string): unknown {
  return JSON.parse(readFileSync(join(folder, '.lock'), 'utf8'))
}

async function lock(folder: string): Promise<() => void> {
  const release = await lockFolder(folder)
  onTestFinished(release)
  return release
}

async function expectTakenOver(folder: string): Promise<void> {
  await lock(folder)
  expect(lockOf(folder)).toMatchObject(ours)
  expect(readdirSync(folder)).toEqual(['.lock'])
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

  it('is refused when it is held on another host, where nobody can tell whether the process runs', async () => {
    const { folder, path } = makeFolder()
    writeFileSync(path, JSON.stringify({ pid: process.pid, host: 'elsewhere' }))
    await expect(lockFolder(folder)).rejects.toThrow(`${folder} is in use by process ${process.pid} on elsewhere: `)
  })

  it.each([
    ['names our own process, which does not hold it', JSON.stringify(ours)],
    ['is empty', ''],
    ['was cut off', JSON.stringify(ours).slice(0, -1)],
    ['names no process', '{"pid":0,"host":"elsewhere"}'],
    ['names no host', '{"pid":1}'],
  ])('is taken over when it %s', { tags: ['slow'] }, async (_, content) => {
    const { folder, path } = makeFolder()
    writeFileSync(path, content)
    await expectTakenOver(folder)
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

describe('the lock of a folder, and other processes:', { tags: ['slow'] }, () => {
  const THREAD = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module)
      .then(({ lockFolder }) => lockFolder(workerData.folder))
      .then((release) => release(), (error) => error.problem)
      .then((outcome) => parentPort.postMessage(outcome ?? 'locked it'))`

  /** Another process that has locked the folder and runs until it is killed. */
  async function otherProcess(folder: string) {
    const script = `
      const lock = JSON.stringify({ pid: process.pid, host: require('node:os').hostname() })
      require('node:fs').writeFileSync(process.argv[1], lock, { flag: 'wx' })
      console.log('locked')
      process.stdin.resume()`
    const child = spawn(process.execPath, ['-e', script, join(folder, '.lock')], { stdio: ['pipe', 'pipe', 'inherit'] })
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
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19]}`
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
    await expect(lockFolder(folder)).rejects.toThrow(`${folder} is in use by process ${child.pid} on ${hostname()}: `)
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

  it.runIf(existsSync('/proc/self/stat'))('is taken over when another process has the pid by now', async () => {
    const { folder, path } = makeFolder()
    const { child } = await otherProcess(folder)
    const began = beginningOf(child)
    const earlier = began.replace(/\d+$/, (ticks) => `${Number(ticks) - 1}`)
    const elsewhere = began.replace(/^./, 'x')
    const outcomes: unknown[] = []
    for (const since of [began, earlier, elsewhere]) {
      writeFileSync(path, JSON.stringify({ pid: child.pid, host: hostname(), began: since }))
      outcomes.push(
        await lockFolder(folder)
          .then((release) => release())
          .catch((error) => error.problem),
      )
    }
    expect(outcomes).toEqual(['locked', undefined, undefined])
  })
})
