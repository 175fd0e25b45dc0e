import { Worker } from 'node:worker_threads'

/** Of the processor, in microseconds; a request needs a thousandth of it. */
const ENDLESS = 10_000_000

/**
 * A thread that tells the story and kills the process when this thread computes for ever, because nothing else ends that.
 * It counts the work of the process since it last heard of this thread, so it waits longer on a busy machine.
 */
const WATCHER = `
  const { writeSync } = require('node:fs')
  let [story, doing, heard] = ['', '', process.cpuUsage()]
  require('node:worker_threads').parentPort.on('message', (message) => {
    ;({ story, doing } = message)
    heard = process.cpuUsage()
  })
  setInterval(() => {
    if (process.cpuUsage(heard).user < ${ENDLESS}) return
    writeSync(2, story + 'Then: ' + doing + ' computes without end, so this process is killed.\\n')
    process.kill(process.pid, 'SIGKILL')
  }, 200)`

/** How long to wait for what usually comes in a moment. */
const PATIENCE = 60_000

/** What has happened in a combination, for whoever has to understand a failure, also one that never ends. */
export class Story {
  readonly #watcher = new Worker(WATCHER, { eval: true })
  text = ''
  #lines = 0

  constructor() {
    this.#watcher.unref()
  }

  add(line: string): void {
    this.text += `${this.#lines++ === 0 ? '' : `${this.#lines - 1}. `}${shorten(line)}\n`
  }

  /** Does something, and rejects instead of waiting for it for ever. */
  async watch<Result>(doing: string, working: () => Promise<Result>): Promise<Result> {
    this.#watcher.postMessage({ story: this.text, doing })
    let patience: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      patience = setTimeout(() => reject(new Error(`${doing} never ends.`)), PATIENCE)
    })
    return Promise.race([working(), tooLate]).finally(() => clearTimeout(patience))
  }

  async end(): Promise<void> {
    await this.#watcher.terminate()
  }
}

/** Also tells how often a letter is repeated, in place of many. */
function shorten(text: string): string {
  const line = text.replaceAll(/(.{1,5}?)\1{49,}/gu, (many, one) => `${one} × ${many.length / one.length}`)
  return line.length > 2000 ? `${line.slice(0, 1500)} … ${line.slice(-400)}` : line
}
