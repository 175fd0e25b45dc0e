/** The part of a structured logger that is used here; a logger of pino or bunyan has it. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const SILENT: Log = { info() {}, warn() {}, error() {} }
