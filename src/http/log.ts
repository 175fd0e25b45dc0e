/** As much of a structured logger as is used here; pino's fits. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const SILENT: Log = { info() {}, warn() {}, error() {} }
