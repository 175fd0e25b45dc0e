import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { lockFolder } from '../../../src/store/folder/folder-lock.ts'
import { bundle } from '../../support/bundle.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const MODULE = pathToFileURL(await bundle(new URL('../../../src/store/folder/folder-lock.ts', import.meta.url))).href
const ours = { pid: process.pid, host: hostname() }

function lockOf(folder: string): unknown {
  return JSON.parse(readFileSync(join(folder, '.lock'), 'utf8'))
}

async function lock(folder: string): Promise<() => void> {
  const release = await lockFolder(folder)
  onTestFinished(release)
  return release
}

/** Another process that has locked the folder and runs until it is killed. */
async function otherProcess(folder: string): Promise<ChildProcess> {
  const script = `
    const lock = JSON.stringify({ pid: process.pid, host: require('node:os').hostname() })
    require('node:fs').writeFileSync(process.argv[1], lock, { flag: 'wx' })
    console.log('locked')
    process.stdin.resume()`
  const child = spawn(process.execPath, ['-e', script, join(folder, '.lock')], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  await once(child.stdout, 'data')
  return child
}

/** As the lock of that process would tell it. */
function beginningOf({ pid }: ChildProcess): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return `${boot} ${readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19]}`
}

describe('the lock of a folder', () => {
  it('names the process and its host', async () => {
    const folder = temporaryFolder()
    await lock(folder)
    expect(lockOf(folder)).toMatchObject(ours)
    if (existsSync('/proc')) expect(lockOf(folder)).toHaveProperty('began')
  })

  it.each<[what: string, make: (path: string) => void]>([
    ['a link to nowhere', (path) => symlinkSync('nowhere', path)],
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
    ['a folder', (path) => mkdirSync(path)],
  ])('that is %s is refused and stays', async (_, make) => {
    const folder = temporaryFolder()
    const path = join(folder, '.lock')
    make(path)
    await expect(lockFolder(folder)).rejects.toThrow(
      `${path} is not a regular file; remove it or choose another folder`,
    )
    expect(readdirSync(folder)).toEqual(['.lock'])
  })

  it('is gone after its release, so that the folder can be locked again', async () => {
    const folder = temporaryFolder()
    const release = await lock(folder)
    release()
    expect(readdirSync(folder)).toEqual([])
    await lock(folder)
  })

  it('refuses a second opening in the same process, by whatever path, and stays', async () => {
    const folder = temporaryFolder()
    const link = join(temporaryFolder(), 'link')
    symlinkSync(folder, link)
    await lock(folder)
    for (const path of [folder, `${folder}/.`, link]) {
      await expect(lockFolder(path)).rejects.toMatchObject({
        problem: 'locked',
        message: `${path} is open in this process already`,
      })
    }
    expect(lockOf(folder)).toMatchObject(ours)
  })

  it('lets one of two openings at the same time through', async () => {
    const folder = temporaryFolder()
    const outcomes = await Promise.allSettled([lock(folder), lock(folder)])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it('refuses while another process runs that holds it, and says which and what to do', async () => {
    const folder = temporaryFolder()
    const child = await otherProcess(folder)
    const path = join(folder, '.lock')
    const before = readFileSync(path, 'utf8')
    await expect(lockFolder(folder)).rejects.toMatchObject({
      problem: 'locked',
      message: `${folder} is in use by process ${child.pid} on ${hostname()}: stop it, choose another folder, or remove ${path} if that process is not a dmarc-understudy`,
    })
    expect(readFileSync(path, 'utf8')).toBe(before)
    expect(readdirSync(folder)).toEqual(['.lock'])
  })

  it('is taken over from a process that was killed, also after a refusal', async () => {
    const folder = temporaryFolder()
    const child = await otherProcess(folder)
    await expect(lockFolder(folder)).rejects.toMatchObject({ problem: 'locked' })
    child.kill('SIGKILL')
    await once(child, 'exit')
    await lock(folder)
    expect(lockOf(folder)).toMatchObject(ours)
    expect(readdirSync(folder)).toEqual(['.lock'])
  })

  it('is taken over from a process that was killed while it took it over itself', async () => {
    const folder = temporaryFolder()
    const child = await otherProcess(folder)
    writeFileSync(join(folder, '.lock.next'), readFileSync(join(folder, '.lock')))
    child.kill('SIGKILL')
    await once(child, 'exit')
    await lock(folder)
    expect(readdirSync(folder)).toEqual(['.lock'])
  })

  it('is refused while another process takes it over', async () => {
    const folder = temporaryFolder()
    const other = temporaryFolder()
    const child = await otherProcess(other)
    writeFileSync(join(folder, '.lock'), '{}')
    writeFileSync(join(folder, '.lock.next'), readFileSync(join(other, '.lock')))
    await expect(lockFolder(folder)).rejects.toThrow(`${folder} is in use by process ${child.pid} on ${hostname()}: `)
    expect(readdirSync(folder)).toEqual(['.lock', '.lock.next'])
  })

  it('is refused when it is held on another host, where nobody can tell whether the process runs', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, '.lock'), JSON.stringify({ pid: process.pid, host: 'elsewhere' }))
    await expect(lockFolder(folder)).rejects.toThrow(`${folder} is in use by process ${process.pid} on elsewhere: `)
  })

  it.each([
    ['names our own process, which does not hold it', JSON.stringify(ours)],
    ['is empty', ''],
    ['was cut off', JSON.stringify(ours).slice(0, -1)],
    ['names no process', '{"pid":0,"host":"elsewhere"}'],
    ['names no host', '{"pid":1}'],
  ])('is taken over when it %s', async (_, content) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, '.lock'), content)
    await lock(folder)
    expect(lockOf(folder)).toMatchObject(ours)
    expect(readdirSync(folder)).toEqual(['.lock'])
  })

  it.runIf(existsSync('/proc/self/stat'))('is taken over when another process has the pid by now', async () => {
    const folder = temporaryFolder()
    const child = await otherProcess(folder)
    const path = join(folder, '.lock')
    const began = beginningOf(child)
    for (const [since, taken] of [
      [began, false],
      [began.replace(/\d+$/, (ticks) => `${Number(ticks) - 1}`), true],
      [began.replace(/^./, 'x'), true],
    ] as const) {
      writeFileSync(path, JSON.stringify({ pid: child.pid, host: hostname(), began: since }))
      const outcome = await lockFolder(folder).then(
        (release) => release(),
        (error) => error.problem,
      )
      expect([since, outcome]).toEqual([since, taken ? undefined : 'locked'])
    }
  })

  it.runIf(existsSync('/proc/self/stat'))(
    'refuses a second opening in another thread of the same process',
    async () => {
      const folder = temporaryFolder()
      const release = await lock(folder)
      const script = `
      const { parentPort, workerData } = require('node:worker_threads')
      import(workerData.module)
        .then(({ lockFolder }) => lockFolder(workerData.folder))
        .then((release) => release(), (error) => error.problem)
        .then((outcome) => parentPort.postMessage(outcome ?? 'locked it'))`
      async function lockInThread(): Promise<unknown> {
        const thread = new Worker(script, { eval: true, workerData: { module: MODULE, folder } })
        const [outcome] = await once(thread, 'message')
        await thread.terminate()
        return outcome
      }
      expect(await lockInThread()).toBe('locked')
      release()
      expect(await lockInThread()).toBe('locked it')
    },
  )

  it('is let go once, and not when another has it by then', async () => {
    const folder = temporaryFolder()
    const release = await lock(folder)
    release()
    await lock(folder)
    release()
    expect(lockOf(folder)).toMatchObject(ours)
    await expect(lockFolder(folder)).rejects.toMatchObject({ problem: 'locked' })
  })

  it('is left alone at the release when it is no longer ours', async () => {
    const folder = temporaryFolder()
    const release = await lock(folder)
    const theirs = JSON.stringify({ pid: process.pid, host: 'elsewhere' })
    writeFileSync(join(folder, '.lock'), theirs)
    release()
    expect(readFileSync(join(folder, '.lock'), 'utf8')).toBe(theirs)
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
