import { ContractError } from './contract-error.ts'

/** Parses YAML 1.2, hence also JSON; a syntax error names file, line and column. */
export async function parseYaml(text: string, file: string): Promise<unknown> {
  const { load, YAMLException } = await import('js-yaml')
  try {
    return load(text)
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const place = error.mark === undefined ? file : `${file}:${error.mark.line + 1}:${error.mark.column + 1}`
    throw new ContractError(place, '', `This is not valid YAML: ${error.reason}.`)
  }
}
