import { editDistance } from '../ground/edit-distance.ts'

/** The number of steps of a path that are compared. It is enough to recognise the path, and it limits the time. */
const STEPS = 10
const CHARACTERS = 40
/** The cost of a missing or extra step, relative to the cost of a completely different step. */
const MISSING = 0.5
/** The cost of a step that stands for a parameter. Because of it, an equal step is preferred. */
const PARAMETER = 0.05
/** Two steps are similar if the share of their difference is not larger than this. */
const SIMILAR = 0.35
/** A route is not suggested if a larger share of it is different. */
const TOLERANCE = 0.5

/** The route, with its `{parameters}`, that the path probably means; `undefined` if none is near. */
export function nearestRoute(path: string, routes: Iterable<string>): string | undefined {
  const given = stepsOf(path).slice(0, STEPS)
  let nearest: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const route of routes) {
    const steps = stepsOf(route)
    const share = distance(given, steps) / Math.max(given.length, steps.length, 1)
    if (share >= least || !sharesStep(given, steps)) continue
    nearest = route
    least = share
  }
  return least <= TOLERANCE ? nearest : undefined
}

/** Whether a step is similar to a fixed step of the route. Similar parameters alone are not enough. */
function sharesStep(given: readonly string[], steps: readonly string[]): boolean {
  const own = steps.filter((step) => !step.startsWith('{'))
  return given.some((one) => own.some((step) => difference(one, step) <= SIMILAR))
}

function stepsOf(path: string): string[] {
  return path.split('/').filter((step) => step !== '')
}

/** The cost of turning the given steps into the steps of a route, by the usual table of edit distances. */
function distance(given: readonly string[], steps: readonly string[]): number {
  let above = Array.from({ length: steps.length + 1 }, (_, index) => index * MISSING)
  for (const one of given) {
    const row = [(above[0] ?? 0) + MISSING]
    for (const [index, step] of steps.entries()) {
      const replaced = (above[index] ?? 0) + difference(one, step)
      row.push(Math.min(replaced, (above[index + 1] ?? 0) + MISSING, (row[index] ?? 0) + MISSING))
    }
    above = row
  }
  return above.at(-1) ?? 0
}

/** The difference, from 0 for equal steps to 1. */
function difference(given: string, step: string): number {
  if (step.startsWith('{')) return PARAMETER
  const word = given.slice(0, CHARACTERS).toLowerCase()
  return editDistance(word, step) / Math.max(word.length, step.length)
}
