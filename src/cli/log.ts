import { constants, createWriteStream, fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { inspect, styleText } from 'node:util'
import { type Log, SILENT } from '../ground/log.ts'
import { printable } from '../ground/show.ts'
import { clearTimeout, RealDate, readTime, setTimeout } from '../ground/timers.ts'
import type { Redact } from '../journal/redaction/redaction.ts'

export type LogLevel = 'info' | 'warn' | 'error' | 'silent'
export type LogFormat = 'pretty' | 'json'

/** How long `close` waits for a reader to consume the rest of the log, in milliseconds. */
const PATIENCE = 300
/** How many bytes of log are kept for a slow reader. Further lines are dropped. */
const BACKLOG = 1 << 20
/**
 * Lines about requests are written together: when they have so many characters, or after so many milliseconds. A write for
 * each of them would take more time than the request.
 */
const TOGETHER = 16_384
const SOON = 50
/** The numbers that pino and bunyan give these levels, so that tools for their logs read ours. */
const SEVERITIES = { info: 30, warn: 40, error: 50 }

/**
 * Opens a log on standard error. By default it is pretty on a terminal, and JSON lines if not. `redact` hides the
 * secrets that the service itself does not know. `close` resolves when the log is written, or after a timeout if no
 * reader consumes it.
 */
export function openLog(
  level: LogLevel,
  format: LogFormat = process.stderr.isTTY ? 'pretty' : 'json',
  redact: Redact = (text) => text,
): { log: Log; close: () => Promise<void> } {
  if (level === 'silent') return { log: SILENT, close: async () => {} }
  const threshold = level
  const { mode } = fstatSync(2)
  const isPipe = (mode & constants.S_IFMT) === constants.S_IFIFO || (mode & constants.S_IFMT) === constants.S_IFSOCK
  let sink = openSink()

  function openSink(): Writable {
    // A blocking write to a pipe without a reader would block a thread, and the end of the process with it.
    const opened: Writable = isPipe
      ? new Socket({ fd: 2, readable: false, writable: true })
      : createWriteStream('', { fd: 2, autoClose: false })
    // The service goes on if the log cannot be written any more, for example after a terminal was closed. A full disk may
    // have room again, but a stream that has failed once takes no more.
    opened.on('error', () => {
      if (!isPipe) sink = openSink()
    })
    return opened
  }

  const isColoured = process.stderr.isTTY === true && !process.env['NO_COLOR']
  const form = format === 'json' ? redact : (line: string) => prettify(redact(line), isColoured)
  let text = ''
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function write(severity: number, fields: object, message: string): void {
    // A line that comes after the end is too late.
    if (isClosed || severity < SEVERITIES[threshold] || sink.writableLength >= BACKLOG) return
    text += form(formatLine(severity, fields, message))
    if (text.length > TOGETHER || severity > SEVERITIES.info) flush()
    else timer ??= setTimeout(flush, SOON).unref()
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    sink.write(text)
    text = ''
  }

  function close(): Promise<void> {
    isClosed = true
    flush()
    return new Promise((resolve) => {
      const patience = setTimeout(() => {
        sink.destroy()
        resolve()
      }, PATIENCE)
      // The program may write more to the same place after its log, so it stays open.
      sink.write('', () => {
        clearTimeout(patience)
        resolve()
      })
    })
  }

  const log: Log = {
    info: (fields, message) => write(SEVERITIES.info, fields, message),
    warn: (fields, message) => write(SEVERITIES.warn, fields, message),
    error: (fields, message) => write(SEVERITIES.error, fields, message),
  }
  return { log, close }
}

/** A line of JSON with its end. JSON shows nothing of an error; `inspect` shows its causes, too. */
export function formatLine(severity: number, fields: object, message: string): string {
  const line = { level: severity, time: new RealDate(readTime()).toISOString(), ...fields, msg: message }
  const show = (_key: string, value: unknown) =>
    value instanceof Error ? { type: value.name, message: value.message, stack: inspect(value) } : value
  return `${JSON.stringify(line, show)}\n`
}

/** A line of the log as a program reads it. */
interface LogLine {
  level: number
  time: string
  msg: string
  method?: string
  path?: string
  /** The foreign name, if the request was refused because of it. */
  host?: string
  status?: number
  code?: string
  account?: string
  fault?: string
  ms?: number
  page?: string
  err?: { stack?: string; message?: string }
}

/** Formats a JSON line for a person: `09:30:01 POST /api/v1/domains → 400 invalid_domain (default, 0.8 ms)`. */
export function prettify(line: string, isColoured: boolean): string {
  const entry = JSON.parse(line) as LogLine
  const { level, time, msg, err, ...fields } = entry
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    isColoured ? styleText(style, text, { validateStream: false }) : text
  const clock = paint('dim', time.slice(11, 19))
  if (msg === 'request') return `${clock} ${describeRequest(entry, paint)}\n`
  const kind =
    level >= SEVERITIES.error ? paint('red', 'error: ') : level >= SEVERITIES.warn ? paint('yellow', 'warning: ') : ''
  const rest = Object.keys(fields).length === 0 ? '' : ` ${printable(JSON.stringify(fields))}`
  const trace = (err?.stack ?? err?.message ?? '').split('\n').map(printable).join('\n')
  const stack = err === undefined ? '' : `\n${trace}`
  return `${clock} ${kind}${printable(msg)}${rest}${stack}\n`
}

function describeRequest(
  { method = '', path = '', host, status, code, account, fault, ms, page }: LogLine,
  paint: (style: 'red' | 'yellow' | 'green', text: string) => string,
): string {
  const style = status === undefined || status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green'
  const outcome = paint(style, status === undefined ? 'no response' : [status, code].filter(Boolean).join(' '))
  const foreign = host !== undefined && `foreign Host ${printable(host)}`
  const notes = [foreign, account, fault && `fault ${fault}`, ms !== undefined && `${ms} ms`].filter(Boolean).join(', ')
  const address = page === undefined ? '' : ` ${printable(page)}`
  return `${printable(`${method} ${path}`)} → ${outcome} (${notes})${address}`
}
