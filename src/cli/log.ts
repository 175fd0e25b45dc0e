import { constants, fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { type Log, SILENT } from '../http/log.ts'

export type LogLevel = 'info' | 'warn' | 'error' | 'silent'

/** In milliseconds: how long a stop waits for somebody to read the rest of the log. */
const PATIENCE = 300
/** How many characters of log wait to be read; when nobody reads them, what comes after them is lost. */
const BACKLOG = 1 << 20

/** Opens a log of JSON lines on standard error. `close` resolves once it is written, or nobody reads it. */
export async function openLog(level: LogLevel): Promise<{ log: Log; close: () => Promise<void> }> {
  if (level === 'silent') return { log: SILENT, close: async () => {} }
  const { pino } = await import('pino')
  const { mode } = fstatSync(2)
  const isPipe = (mode & constants.S_IFMT) === constants.S_IFIFO || (mode & constants.S_IFMT) === constants.S_IFSOCK
  // A pipe that is written as a file and that nobody reads would block a thread, and so the end of the process.
  const sink = isPipe
    ? new Socket({ fd: 2, readable: false, writable: true })
    : pino.destination({ dest: 2, sync: false })
  // When nobody can read the log any more, as after a terminal was closed, the service goes on.
  sink.on('error', () => {})
  function write(line: string): void {
    if (!(sink instanceof Socket) || sink.writableLength < BACKLOG) sink.write(line)
  }
  function close(): Promise<void> {
    return new Promise((resolve) => {
      const patience = setTimeout(() => {
        sink.destroy()
        resolve()
      }, PATIENCE)
      sink.once('finish', () => {
        clearTimeout(patience)
        resolve()
      })
      sink.end()
    })
  }
  return { log: pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write }), close }
}
