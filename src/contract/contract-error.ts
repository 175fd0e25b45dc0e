/** A document or an overlay is unusable. The message is the place, as `file#/json/pointer`, and one sentence. */
export class ContractError extends Error {
  override name = 'ContractError'

  constructor(file: string, pointer: string, reason: string) {
    super(`${file}${pointer === '' ? '' : `#${pointer}`}: ${reason}`)
  }
}
