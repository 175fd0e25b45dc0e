export type RecordingLog = ReturnType<typeof recordingLog>

/** A log that keeps errors and warnings and forgets the rest. */
export function recordingLog() {
  const errors: object[] = []
  const warnings: object[] = []
  return {
    errors,
    warnings,
    info() {},
    warn(fields: object) {
      warnings.push(fields)
    },
    error(fields: object) {
      errors.push(fields)
    },
  }
}
