import { valueAt } from '../../src/ground/json.ts'

/** Status, and the code of a refusal: `400 missing_id`. */
export function outcome({ status, body }: { status: number; body?: unknown }): string {
  const code = valueAt(body, '/error/code')
  return code === undefined ? `${status}` : `${status} ${code}`
}
