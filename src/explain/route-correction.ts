import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { editDistance, letters } from '../ground/edit-distance.ts'
import { decodePart, type Parameters, readParameters, splitTarget } from '../ground/target.ts'
import { spelt } from './wording.ts'

/** The intended destination of a request. */
export interface CorrectedRoute {
  operation: Operation
  /** The method of the operation, or HEAD. */
  method: string
  /** The query parameters as sent. */
  parameters: Parameters
  /** The segment after the path of the operation, as in `/domains/example.com`. */
  rest: string | undefined
  changes: readonly string[]
}

/** The operation of a request, or if it has none, the nearest operation. */
export function correctRoute(method: string, target: string, hasBody: boolean, contract: Contract): CorrectedRoute {
  const [withoutFragment = ''] = target.split('#')
  const { path, query = '' } = splitTarget(withoutFragment)
  const parameters = readParameters(query)
  const verb = method.toUpperCase()
  const known = routeOf(path, contract)
  const { route, rest } = known === undefined ? nearestRoute(path, verb, contract) : { route: known, rest: undefined }
  const methods = contract.routes.get(route)
  const hasId = rest !== undefined || parameters.some(([name]) => name.toLowerCase() === 'id')
  const corrected = allowedMethod(verb, methods, { hasBody, hasId })
  const operation = methods?.get(corrected === 'HEAD' ? 'GET' : corrected)
  if (operation === undefined) throw new Error(`There is no ${corrected} ${route}.`)
  const changes: string[] = []
  if (known === undefined) changes.push(`The path is \`${contract.basePath}${route}\` instead of ${sentAs(path)}.`)
  if (corrected !== method) changes.push(`The method is ${corrected} instead of ${sentAs(method)}.`)
  return { operation, method: corrected, parameters, rest, changes }
}

/** The path of the contract that matches this path, if any. */
function routeOf(path: string, { basePath, routes, settings }: Contract): string | undefined {
  const form = (text: string) => (settings.pathMatching === 'lenient' ? text.toLowerCase() : text)
  const spelling = settings.pathMatching === 'lenient' ? path.replace(/(.)\/$/, '$1') : path
  return [...routes.keys()].find((route) => form(basePath + route) === form(spelling))
}

/** The maximum number of compared segments. It is enough to recognise a path, and it limits the time. */
const SEGMENTS = 12
const CHARACTERS = 64

interface NearRoute {
  route: string
  rest: string | undefined
  /** A smaller distance is nearer. Below 1, it is the route in another spelling; from 2, it is only similar. */
  distance: number
}

/** The path of the contract that is nearest to one of the segments. If none is near, a path that has the method. */
function nearestRoute(path: string, method: string, { basePath, routes }: Contract): NearRoute {
  const start = path.slice(0, SEGMENTS * CHARACTERS)
  const segments = (decodePart(start) ?? start).split(/[/\\]+/).filter((segment) => segment !== '')
  const base = basePath.split('/').slice(1)
  const below = base.every((step, index) => step === segments[index]?.toLowerCase())
    ? segments.slice(base.length)
    : segments
  const words = below.length === 0 ? [''] : below.slice(0, SEGMENTS)
  const candidates = [...routes].flatMap(([route, methods]) =>
    words.map((word, index): NearRoute => {
      const distance = distanceTo(route, word)
      const unable = distance >= 2 && !methods.has(method === 'HEAD' ? 'GET' : method) ? 1 : 0
      return { route, rest: distance < 1 ? words[index + 1] : undefined, distance: distance + unable }
    }),
  )
  const [first, ...others] = candidates
  if (first === undefined) throw new Error('The contract has no paths.')
  return others.reduce((nearest, each) => (each.distance < nearest.distance ? each : nearest), first)
}

function distanceTo(route: string, segment: string): number {
  const name = letters(route)
  const word = letters(segment.slice(0, CHARACTERS))
  const share = editDistance(word, name) / Math.max(word.length, name.length, 1)
  if (share === 0) return 0
  const close = share <= 0.3 || (word.length >= 4 && (name.includes(word) || word.includes(name)))
  return (close ? 1 : 2) + share
}

interface Clues {
  hasBody: boolean
  hasId: boolean
}

/** The methods that a client probably meant if the path does not have its method, the most probable first. */
function meant(method: string, { hasBody, hasId }: Clues): string[] {
  switch (method) {
    case 'PUT':
    case 'PATCH':
      return hasId ? ['PATCH', 'POST', 'GET'] : ['POST', 'PATCH', 'GET']
    case 'POST':
      return ['PATCH', 'GET']
    case 'PURGE':
    case 'UNLINK':
      return ['DELETE', 'GET']
    default:
      return hasBody ? ['POST', 'PATCH', 'GET'] : ['GET', 'POST', 'PATCH']
  }
}

function allowedMethod(method: string, methods: ReadonlyMap<string, Operation> | undefined, clues: Clues): string {
  if (methods?.has(method) || (method === 'HEAD' && methods?.has('GET'))) return method
  const allowed = meant(method, clues).find((each) => methods?.has(each)) ?? methods?.keys().next().value
  if (allowed === undefined) throw new Error('A path has no methods.')
  return allowed
}

function sentAs(text: string): string {
  return text === '' ? 'none' : spelt(text)
}
