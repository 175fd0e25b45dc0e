import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { PROGRAM, ROOT, runProcess, runShell } from '../support/program-process.ts'
import { COMMANDS } from './commands.ts'

describe.concurrent('the program', () => {
  // All other refusals and outputs are looked at in the process of the tests.
  it.for<[what: string, args: string[], code: number]>([
    ['ends well', ['assumptions', '--json'], 0],
    ['is used wrongly', ['serve', '--port', 'http'], 2],
    ['is given a file that is none', ['serve', '--port', '0', '--fixture', 'nowhere.json'], 2],
    ['cannot start', ['serve', '--port', '0', '--data', fileURLToPath(import.meta.url)], 3],
  ])('says and returns as a process what it does without one when it %s', async ([, args, code]) => {
    const result = await runProcess(args)
    expect(result.code).toBe(code)
    expect(result).toEqual(await runInProcess(args))
  })

  it.each([['--version'], ['-v']])('says its version with %s', async (flag) => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(await runProcess([flag])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it.each([['serve', '--port', '0'], ['fixture', '--domains', '2'], ['assumptions'], ['--help']])(
    'that cannot write its output says so in one line: %s %s %s',
    async (...args) => {
      const { code, stderr } = await runShell(`'${process.execPath}' '${PROGRAM}' ${args.join(' ')} > /dev/full`)
      const message = 'standard output cannot be written (ENOSPC); send it somewhere else'
      expect({ code, stderr }).toEqual({ code: 3, stderr: `dmarc-understudy: ${message}\n` })
    },
  )

  it('says in one line that its working folder was deleted', async () => {
    const command = `folder=$(mktemp -d) && cd "$folder" && rmdir "$folder" && '${process.execPath}' '${PROGRAM}' run -- true`
    const { code, stderr } = await runShell(command)
    const message = 'the working folder is not there any more (ENOENT); change into another one'
    expect({ code, stderr }).toEqual({ code: 2, stderr: `dmarc-understudy: ${message}\n` })
  })

  it.each(['frobnicate', '--port', '-x', 'constructor', '__lookupGetter__', ''])(
    'refuses %j, which is no command',
    async (name) => {
      await expectRefusal([name], 2, `${name} is no command; there are ${COMMANDS.join(', ')}`)
    },
  )

  it('refuses __proto__, which resembles a command', async () => {
    await expectRefusal(['__proto__'], 2, '__proto__ is no command; did you mean proxy?')
  })

  it.each([
    ['SERVE', 'serve'],
    ['server', 'serve'],
    ['assumption', 'assumptions'],
  ])('asks whether %j means %s', async (name, meant) => {
    await expectRefusal([name], 2, `${name} is no command; did you mean ${meant}?`)
  })
})

describe('a fresh build', () => {
  it('makes the program executable', async ({ folder }) => {
    for (const path of ['src', 'bundle.mjs', 'bundle-page.mjs', 'package.json', 'tsconfig.json']) {
      cpSync(join(ROOT, path), join(folder, path), { recursive: true })
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const result = await runShell('node bundle.mjs >bundle.log && dist/cli.js --version', { folder })
    expect(result).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })
})

describe('a signal', () => {
  it.for(['SIGTERM', 'SIGINT'] as const)(
    '%s ends serve with exit code 0 within 2 seconds, idle connections or not',
    // A machine that does something else takes longer.
    { retry: 2 },
    async (signal, { serveProcess, onTestFinished }) => {
      const service = await serveProcess()
      const agent = new Agent({ keepAlive: true })
      onTestFinished(() => agent.destroy())
      const request = get(`${service.baseUrl}/domains`, { agent })
      const [response] = await once(request, 'response')
      await once(response.resume(), 'end')
      expect(request.socket?.destroyed).toBe(false)
      const sent = performance.now()
      service.stop(signal)
      expect(await service.ended).toMatchObject({ code: 0 })
      expect(performance.now() - sent).toBeLessThan(2000)
    },
  )
})

describe('npm start', () => {
  it('passes options on, and ends with everything it started when npm is told to', async ({ onTestFinished }) => {
    // Without the build, which the tests have just made.
    const args = ['start', '--silent', '--ignore-scripts', '--', '--port', '0', '--log-level', 'silent']
    const child = spawn('npm', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let greeting = ''
    for await (const chunk of child.stdout) {
      greeting += chunk
      if (greeting.includes('Try it')) break
    }
    const [, baseUrl = ''] = /Base URL {3}(\S+)/.exec(greeting) ?? []
    expect((await fetch(`${baseUrl}/domains`)).status).toBe(401)
    child.kill('SIGTERM')
    await once(child, 'exit')
    await expect(fetch(`${baseUrl}/domains`)).rejects.toThrow()
  })
})
