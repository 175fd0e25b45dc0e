import { kebab, SETTINGS, type Settings } from '../domain/settings.ts'
import { readPackageFile } from '../ground/files.ts'
import { isObject, type Json, pointTo } from '../ground/json.ts'
import { findViolation } from '../ground/schema.ts'
import { ContractError } from './extensions.ts'

/** Reads `x-settings`. @throws ContractError for an unknown, missing or, where they are checked, invalid setting. */
export async function readSettings(
  document: Json,
  file: string,
  { isChecked }: { isChecked: boolean },
): Promise<Settings> {
  const given = isObject(document['x-settings']) ? document['x-settings'] : {}
  const expected = new Map(Object.entries(SETTINGS).map(([name, schema]) => [kebab(name), { name, schema }]))
  const settings: Json = {}
  for (const key of Object.keys(given)) {
    if (!expected.has(key)) {
      const all = [...expected.keys()].join(', ')
      const reason = whatBecameOf(key) ?? `There is no setting ${key}; there are ${all}.`
      throw new ContractError(file, pointTo('/x-settings', key), reason)
    }
  }
  for (const [key, { name, schema }] of expected) {
    const pointer = pointTo('/x-settings', key)
    const setting = given[key]
    if (!isObject(setting) || !Object.hasOwn(setting, 'value')) {
      throw new ContractError(file, pointer, `The setting ${key} needs a value.`)
    }
    const violation = isChecked ? await findViolation(schema, setting['value']) : undefined
    if (violation) {
      throw new ContractError(file, `${pointer}/value${violation.pointer}`, `The value ${violation.reason}.`)
    }
    settings[name] = setting['value']
  }
  const checked = settings as unknown as Settings
  if (!checked.plans.order.includes(checked.plans.lowest)) {
    throw new ContractError(file, '/x-settings/plans/value/lowest', 'The lowest plan must be one of the order.')
  }
  return checked
}

/** A line of the documentation: what holds now, and the names of the former choice, its setting and its schema. */
const LINE = /^- (.+) \((`[\w-]+`(?:, `[\w-]+`)*)\)$/gm

/**
 * What holds in place of a choice of former versions, in the words of the documentation; `undefined` if `text`, an id or a
 * JSONPath, names none.
 */
export function whatBecameOf(text: string): string | undefined {
  const names = text.split(/[^\w-]+/)
  const [, unusual = ''] = readPackageFile('docs/choices.md').toString().split('## Unusual input')
  for (const [, says = '', known = ''] of unusual.matchAll(LINE)) {
    const name = known.match(/[\w-]+/g)?.find((each) => names.includes(each))
    if (name !== undefined) return `${name} is no longer a choice. ${says}`
  }
  return undefined
}
