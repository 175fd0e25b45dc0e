import type { FaultRule } from '../domain/faults.ts'
import { readInput, readPackageFile } from '../ground/files.ts'
import { parseJson, pointTo } from '../ground/json.ts'
import { findViolation } from '../ground/schema.ts'
import type { RuleCheck } from './rule-check.ts'

const READY_MADE = 'fixtures/fault-sets.json'

/** Named fault rules that belong together. */
export interface FaultSet {
  name: string
  description: string
  rules: readonly FaultRule[]
}

/** The content of a file of fault sets: name → set. */
type FaultSetFile = Readonly<Record<string, { description?: string; rules: readonly FaultRule[] }>>

/** A file of fault sets, or the name of a set, is unusable. */
export class FaultSetError extends Error {
  override name = 'FaultSetError'
}

let readyMade: FaultSet[] | undefined

/** The fault sets of the package. */
export function readyMadeSets(): FaultSet[] {
  readyMade ??= setsOf(JSON.parse(readPackageFile(READY_MADE).toString()) as FaultSetFile)
  return readyMade
}

/**
 * The fault sets of a source. It is the name of a ready-made set, the path of a file, or a path with `#` and the name
 * of one set in the file. A file with a list of rules, such as a plan of `explore`, is one set. `check` checks the rules of a file. @throws FaultSetError
 */
export async function loadFaultSets(source: string, check: RuleCheck): Promise<FaultSet[]> {
  const ready = readyMadeSets()
  const one = ready.find(({ name }) => name === source)
  if (one !== undefined) return [one]
  const [, path = source, name] = /^(.*?)(?:#([^#/]*))?$/s.exec(source) ?? []
  const isPart = name !== undefined && ready.some((set) => set.name === path)
  const names = isPart ? `${path}, which has no parts,` : ready.map((set) => set.name).join(', ')
  const sets = setsOf(await readSets(path, names, check))
  const chosen = name === undefined ? sets : sets.filter((set) => set.name === name)
  if (chosen.length > 0) return chosen
  const remedy = sets.length === 0 ? 'it has none' : `it has ${sets.map((set) => set.name).join(', ')}`
  throw new FaultSetError(`${path}: There is no fault set${name === undefined ? '' : ` ${name}`}; ${remedy}.`)
}

async function readSets(path: string, names: string, check: RuleCheck): Promise<FaultSetFile> {
  const remedy = `give ${names} or the path of a JSON file`
  const fail = (reason: string) => new FaultSetError(`${path}: ${reason}`)
  const content = parseJson(await readInput(path, { content: 'fault sets', remedy, fail }), fail)
  if (Array.isArray(content) && content.length === 0) throw fail('There is no fault rule in the list.')
  const sets = Array.isArray(content) ? { [PLAN]: { rules: content } } : content
  const placeOf = (pointer: string) => {
    const inFile = sets === content ? pointer : pointer.slice(IN_PLAN.length)
    return inFile === '' ? path : `${path}#${inFile}`
  }
  const violation = await findViolation(FILE_SCHEMA, sets)
  if (violation) throw new FaultSetError(`${placeOf(violation.pointer)}: The value ${violation.reason}.`)
  const problem = findSetProblem(sets as FaultSetFile, check)
  if (problem) throw new FaultSetError(`${placeOf(problem.pointer)}: ${problem.message}`)
  return sets as FaultSetFile
}

/** The first refused rule of the sets. */
function findSetProblem(sets: FaultSetFile, { limits, findProblem }: RuleCheck): ReturnType<RuleCheck['findProblem']> {
  const most = limits.faultsPerAccount
  for (const [name, { rules }] of Object.entries(sets)) {
    const pointer = `${pointTo('', name)}/rules`
    if (rules.length > most) {
      return { pointer, message: `There are ${rules.length} rules; an account has at most ${most}.` }
    }
    for (const [index, rule] of rules.entries()) {
      const problem = findProblem(rule, `${pointer}/${index}`)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

/** The name of the set of a file that is a plan of `explore`: a list of rules. */
const PLAN = 'plan'
const IN_PLAN = `/${PLAN}/rules`

const FILE_SCHEMA = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    required: ['rules'],
    properties: { description: { type: 'string' }, rules: { type: 'array', items: { type: 'object' } } },
  },
}

function setsOf(file: FaultSetFile): FaultSet[] {
  return Object.entries(file).map(([name, { description = '', rules }]) => ({ name, description, rules }))
}
