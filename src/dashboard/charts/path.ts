import { roundToTenth } from '../formatting.ts'

/** A point in a drawing; null is a gap. */
export type Point = readonly [x: number, y: number] | null

/** The `d` of a line through the points. A point between two gaps has length 0, and a round cap makes it visible. */
export function linePath(points: readonly Point[]): string {
  return runsOf(points)
    .map((run) => `M${run.map(write).join('L')}${run.length === 1 ? 'h0' : ''}`)
    .join('')
}

/** The `d` of the area between the points and the height `ground`. */
export function areaPath(points: readonly Point[], ground: number): string {
  return runsOf(points)
    .map((run) => {
      const [first, last] = [run[0], run.at(-1)]
      if (first === undefined || last === undefined) return ''
      return `M${write([first[0], ground])}L${run.map(write).join('L')}L${write([last[0], ground])}Z`
    })
    .join('')
}

/** Splits the points at the gaps. */
function runsOf(points: readonly Point[]): (readonly [number, number])[][] {
  const runs: (readonly [number, number])[][] = [[]]
  for (const point of points) {
    if (point === null) runs.push([])
    else runs.at(-1)?.push(point)
  }
  return runs.filter((run) => run.length > 0)
}

function write([x, y]: readonly [number, number]): string {
  return `${roundToTenth(x)},${roundToTenth(y)}`
}
