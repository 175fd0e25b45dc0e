/**
 * A file of evidence, of dependencies or of accepted findings cannot be used. The message is the place, as
 * `file#/json/pointer`, and one sentence.
 */
export class EvidenceError extends Error {
  override name = 'EvidenceError'

  constructor(file: string, pointer: string, reason: string) {
    super(`${file}${pointer === '' ? '' : `#${pointer}`}: ${reason}`)
  }
}
