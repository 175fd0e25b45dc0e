import { readInput, readPackageFile } from '../ground/files.ts'
import { findViolation } from '../ground/schema.ts'

/**
 * A file of evidence or of accepted findings cannot be used. The message is the place, as
 * `file#/json/pointer`, and one sentence.
 */
export class EvidenceError extends Error {
  override name = 'EvidenceError'

  constructor(file: string, pointer: string, reason: string) {
    super(`${file}${pointer === '' ? '' : `#${pointer}`}: ${reason}`)
  }
}

/** The text of a file. `content` names what it should have. @throws EvidenceError */
export function readText(file: string, largest: number, content: string): Promise<string> {
  return readInput(file, { content, largest, fail: (reason) => new EvidenceError(file, '', reason) })
}

/**
 * Checks the content of a file by its schema in `docs/schemas`, which is also what users read.
 * @throws EvidenceError
 */
export async function checkContent(file: string, schema: 'baseline' | 'evidence', content: unknown): Promise<void> {
  const violation = await findViolation(JSON.parse(`${readPackageFile(`docs/schemas/${schema}.json`)}`), content)
  if (violation !== undefined) throw new EvidenceError(file, violation.pointer, `The value ${violation.reason}.`)
}
