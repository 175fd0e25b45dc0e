import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { createRouter } from '../contract/router.ts'
import { editDistance, letters } from '../ground/edit-distance.ts'
import { spelt } from '../ground/show.ts'
import { decodePart, type Parameters, readParameters, splitTarget } from '../ground/target.ts'

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
  const found = createRouter(contract, contract.settings)('GET', path)
  const known = (found.ok ? found.operation : found.neighbour)?.path
  const { route, rest } = known === undefined ? nearestRoute(path, verb, contract) : { route: known, rest: undefined }
  const methods = contract.routes.get(route) ?? new Map<string, Operation>()
  const hasId = rest !== undefined || parameters.some(([name]) => name.toLowerCase() === 'id')
  const corrected = [verb, ...meantBy(verb, hasBody, hasId), ...methods.keys()].find((each) =>
    methods.has(servedAs(each)),
  )
  const operation = methods.get(servedAs(corrected ?? ''))
  if (corrected === undefined || operation === undefined) throw new Error(`The path ${route} has no methods.`)
  const changes: string[] = []
  if (known === undefined) changes.push(`The path is \`${contract.basePath}${route}\` instead of ${sentAs(path)}.`)
  if (corrected !== method) changes.push(`The method is ${corrected} instead of ${sentAs(method)}.`)
  return { operation, method: corrected, parameters, rest, changes }
}

/** The most characters of a path that are compared. It is enough to recognise one, and it limits the time. */
const COMPARED = 500

/** The path of the contract that is nearest to one of the segments and has the method, if possible. */
function nearestRoute(path: string, method: string, { basePath, routes }: Contract) {
  const start = path.slice(0, COMPARED)
  const segments = (decodePart(start) ?? start).split(/[/\\]+/).filter((segment) => segment !== '')
  const base = basePath.split('/').slice(1)
  const isBelow = base.every((step, index) => step === segments[index]?.toLowerCase())
  const words = isBelow ? segments.slice(base.length) : segments
  const candidates = [...routes].flatMap(([route, methods]) =>
    (words.length === 0 ? [''] : words).map((word, index) => {
      const distance = distanceTo(route, word)
      const hasMethod = distance < 2 || methods.has(servedAs(method))
      // Behind a route in another spelling may stand what the request is about.
      return { route, rest: distance < 1 ? words[index + 1] : undefined, distance: distance + (hasMethod ? 0 : 1) }
    }),
  )
  return candidates.reduce((nearest, each) => (each.distance < nearest.distance ? each : nearest))
}

/** Below 1, the segment is the route in another spelling; from 2, it is not even similar. */
function distanceTo(route: string, segment: string): number {
  const [name, word] = [letters(route), letters(segment)]
  const share = editDistance(word, name) / Math.max(word.length, name.length, 1)
  if (share === 0) return 0
  const isSimilar = share <= 0.3 || (word.length >= 4 && (name.includes(word) || word.includes(name)))
  return (isSimilar ? 1 : 2) + share
}

/** The methods that a client probably meant if the path does not have its method, the most probable first. */
function meantBy(method: string, hasBody: boolean, hasId: boolean): string[] {
  if (method === 'PURGE' || method === 'UNLINK') return ['DELETE']
  if (method === 'POST' || ((method === 'PUT' || method === 'PATCH') && hasId)) return ['PATCH', 'POST', 'GET']
  return method === 'PUT' || method === 'PATCH' || hasBody ? ['POST', 'PATCH', 'GET'] : ['GET']
}

/** HEAD is served where GET is (RFC 9110 §9.3.2). */
function servedAs(method: string): string {
  return method === 'HEAD' ? 'GET' : method
}

function sentAs(text: string): string {
  return text === '' ? 'none' : spelt(text)
}
