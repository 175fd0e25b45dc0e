import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

/** A page in a browser context of its own. */
export interface BrowserPage {
  open(url: string): Promise<void>
  /** Resolves to the value of an expression, or of the promise that it returns. It may do what needs a user's gesture. */
  evaluate<Value>(expression: string): Promise<Value>
  /** Resolves as soon as the expression is true. */
  until(expression: string): Promise<void>
  click(selector: string): Promise<void>
  /** Types into the field with the focus, as a keyboard does. */
  type(text: string): Promise<void>
  press(key: string): Promise<void>
  /** Sets the width of the page in pixels, the colour scheme, and whether it is shown as on paper. */
  show(width: number, scheme: 'light' | 'dark', media?: 'screen' | 'print'): Promise<void>
  /** Adds these header fields to every request that the page sends from now on, also when it opens another one. */
  addHeaders(headers: Record<string, string>): Promise<void>
  /** The roles and names that assistive technology reads. */
  controls(): Promise<{ role: string; name: string }[]>
  /** The errors in the console, and what the policy has forbidden. */
  complaints(): string[]
}

export interface Browser {
  newPage(): Promise<BrowserPage>
  close(): Promise<void>
}

interface Message {
  id?: number
  sessionId?: string
  method?: string
  params?: Record<string, unknown>
  result?: unknown
  error?: { message: string }
}

/** The path of the browser. @throws when there is none; the error says what to do. */
function findChromium(): string {
  const path = process.env['CHROME_PATH'] ?? NAMES.find((name) => spawnSync(name, ['--version']).status === 0)
  if (path !== undefined) return path
  throw new Error(
    `No Chromium was found as ${NAMES.join(', ')}. Install one (apt-get install chromium) or name it in CHROME_PATH.`,
  )
}

/** Starts a browser without a window, which is controlled with the DevTools protocol through a pipe. */
export async function startChromium(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'understudy-chromium-'))
  // The sandbox does not work for root, which is the usual user in a container.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const switches = [
    '--headless',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--remote-debugging-pipe',
  ]
  const child = spawn(findChromium(), [...switches, ...sandbox, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    // A process group of its own, so that its children end with it.
    detached: true,
  })
  const ended = once(child, 'exit')
  const wire = createWire(child.stdio[3] as Writable, child.stdio[4] as Readable)
  ended.then(
    () => wire.end(new Error('The browser ended.')),
    (error: Error) => wire.end(error),
  )
  return {
    newPage: () => createPage(wire),
    async close() {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      await ended
      // Its children may still write while they end.
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}

type Wire = ReturnType<typeof createWire>

/** Sends calls and reads answers and events, as JSON with a zero byte after each. */
function createWire(input: Writable, output: Readable) {
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  const listeners = new Set<(message: Message) => void>()
  let calls = 0
  let rest = ''
  let over: Error | undefined
  function take(message: Message): void {
    if (message.id === undefined) for (const listener of listeners) listener(message)
    else {
      const call = waiting.get(message.id)
      waiting.delete(message.id)
      if (message.error) call?.reject(new Error(message.error.message))
      else call?.resolve(message.result)
    }
  }
  output.setEncoding('utf8')
  output.on('data', (text: string) => {
    const messages = (rest + text).split('\0')
    rest = messages.pop() ?? ''
    for (const message of messages) take(JSON.parse(message) as Message)
  })
  input.on('error', () => {})
  return {
    listen: (listener: (message: Message) => void) => listeners.add(listener),
    call<Result>(method: string, params: object = {}, sessionId?: string): Promise<Result> {
      if (over !== undefined) return Promise.reject(over)
      calls += 1
      const id = calls
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
      return new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject })) as Promise<Result>
    },
    end(error: Error): void {
      over = error
      for (const { reject } of waiting.values()) reject(error)
    },
  }
}

async function createPage(wire: Wire): Promise<BrowserPage> {
  const { browserContextId } = await wire.call<{ browserContextId: string }>('Target.createBrowserContext')
  const target = { url: 'about:blank', browserContextId }
  const { targetId } = await wire.call<{ targetId: string }>('Target.createTarget', target)
  const { sessionId } = await wire.call<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
  const complaints: string[] = []
  wire.listen(({ sessionId: from, method = '', params = {} }) => {
    if (from !== sessionId) return
    const entry = params['entry'] as { level: string; source: string } | undefined
    // Some tests let connections fail on purpose.
    const relevant = entry === undefined || (entry.level === 'error' && entry.source !== 'network')
    if (['Runtime.exceptionThrown', 'Log.entryAdded'].includes(method) && relevant) {
      complaints.push(JSON.stringify(params))
    }
  })
  const call = <Result>(method: string, params?: object) => wire.call<Result>(method, params, sessionId)
  for (const domain of ['Page', 'Runtime', 'Log', 'Accessibility']) await call(`${domain}.enable`)

  async function evaluate<Value>(expression: string): Promise<Value> {
    const options = { awaitPromise: true, returnByValue: true, userGesture: true }
    const { result, exceptionDetails } = await call<{
      result: { value: Value }
      exceptionDetails?: { text: string; exception?: { description?: string } }
    }>('Runtime.evaluate', { expression, ...options })
    if (exceptionDetails === undefined) return result.value
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  }

  const until = (expression: string): Promise<void> =>
    // The expression may be a promise, which is true of itself whatever it resolves to.
    evaluate(`new Promise((resolve, reject) => {
      const look = async () => ((await (${expression})) ? resolve() : setTimeout(() => look().catch(reject), 20))
      look().catch(reject)
    })`)

  return {
    evaluate,
    until,
    async open(url) {
      await call('Page.navigate', { url })
      await until(`location.href !== 'about:blank' && document.readyState === 'complete'`)
    },
    async click(selector) {
      await evaluate(`document.querySelector(${JSON.stringify(selector)}).focus()`)
      await evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`)
    },
    async type(text) {
      await call('Input.insertText', { text })
    },
    async press(key) {
      const details = { key, code: key, ...(key === 'Enter' && { text: '\r' }), windowsVirtualKeyCode: KEY_CODES[key] }
      await call('Input.dispatchKeyEvent', { type: 'keyDown', ...details })
      await call('Input.dispatchKeyEvent', { type: 'keyUp', ...details })
    },
    async show(width, scheme, media = 'screen') {
      await call('Emulation.setDeviceMetricsOverride', { width, height: 800, deviceScaleFactor: 1, mobile: false })
      await call('Emulation.setEmulatedMedia', {
        media,
        features: [
          { name: 'prefers-color-scheme', value: scheme },
          { name: 'prefers-reduced-motion', value: 'reduce' },
        ],
      })
    },
    async addHeaders(headers) {
      await call('Network.enable')
      await call('Network.setExtraHTTPHeaders', { headers })
    },
    async controls() {
      const { nodes } = await call<{
        nodes: { ignored: boolean; role?: { value: string }; name?: { value: string } }[]
      }>('Accessibility.getFullAXTree')
      return nodes
        .filter(({ ignored }) => !ignored)
        .map(({ role, name }) => ({ role: role?.value ?? '', name: name?.value ?? '' }))
    },
    complaints: () => complaints,
  }
}

const KEY_CODES: Readonly<Record<string, number>> = {
  Enter: 13,
  Escape: 27,
  ArrowLeft: 37,
  ArrowRight: 39,
  ArrowDown: 40,
}
