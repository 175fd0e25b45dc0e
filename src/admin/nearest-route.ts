import { editDistance } from '../ground/edit-distance.ts'

/** How much of a path is compared: enough to recognise it, and it limits the time. */
const STEPS = 10
const CHARACTERS = 40
/** What a step costs that is missing or too many, as a share of a step that is quite different. */
const MISSING = 0.5
/** What it costs that a step stands for a parameter, so that an equal step is preferred. */
const PARAMETER = 0.05
/** Steps that differ by no larger share are nearly the same. */
const SIMILAR = 0.35
/** A route of which more than this share is different was not meant. */
const TOLERANCE = 0.5

/** The route, with its `{parameters}`, that a path was probably meant to be; `undefined` if none is near. */
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

/** Whether a step is nearly one of the route's own. A path that is alike in its parameters alone is not. */
function sharesStep(given: readonly string[], steps: readonly string[]): boolean {
  const own = steps.filter((step) => !step.startsWith('{'))
  return given.some((one) => own.some((step) => difference(one, step) <= SIMILAR))
}

function stepsOf(path: string): string[] {
  return path.split('/').filter((step) => step !== '')
}

/** What it costs to turn the given steps into those of a route, by the usual table of edit distances. */
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

/** From 0 for equal steps to 1. */
function difference(given: string, step: string): number {
  if (step.startsWith('{')) return PARAMETER
  const word = given.slice(0, CHARACTERS).toLowerCase()
  return editDistance(word, step) / Math.max(word.length, step.length)
}
