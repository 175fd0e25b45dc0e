/** A document or overlay that cannot be used: where, as `file#/json/pointer`, and why, as one sentence. */
export class ContractError extends Error {
  override name = 'ContractError'

  constructor(file: string, pointer: string, reason: string) {
    super(`${file}${pointer === '' ? '' : `#${pointer}`}: ${reason}`)
  }
}
