import { ContractError } from './extensions.ts'

/** Parses YAML 1.2, which includes JSON. @throws ContractError with file, line and column of a syntax error */
export async function parseYaml(text: string, file: string): Promise<unknown> {
  const { load, YAMLException } = await import('js-yaml')
  try {
    const value = load(text)
    checkExtent(value, file)
    return value
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const place = error.mark === undefined ? file : `${file}:${error.mark.line + 1}:${error.mark.column + 1}`
    throw new ContractError(place, '', `This is not valid YAML: ${error.reason}.`)
  }
}

/** A value as YAML. A long text is folded. */
export async function writeYaml(value: unknown): Promise<string> {
  const { dump } = await import('js-yaml')
  return dump(value, { lineWidth: 120 })
}

const MOST_VALUES = 1_000_000

/** Aliases let a small text represent a huge or an endless tree. */
function checkExtent(root: unknown, file: string): void {
  let values = 0
  const path = new Set<unknown>()
  function visit(value: unknown): void {
    if (++values > MOST_VALUES)
      throw new ContractError(file, '', `Its aliases expand to more than ${MOST_VALUES} values.`)
    if (typeof value !== 'object' || value === null) return
    if (path.has(value)) throw new ContractError(file, '', 'One of its aliases is part of what it stands for.')
    path.add(value)
    for (const item of Object.values(value)) visit(item)
    path.delete(value)
  }
  visit(root)
}
