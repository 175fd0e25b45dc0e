import { areaPath, linePath, type Point } from './path.ts'
import { scaleLinear } from './scale.ts'

const SIZE = { width: 96, height: 24 } as const
/** Room for the line, which is wider than its path. */
const MARGIN = 2

interface SparklineProps {
  /** The newest last; null where there was nothing to measure. */
  values: readonly (number | null)[]
  /** What the line shows, in words, for everybody who does not see it: `DMARC from 97.1 % to 62.0 % in 30 days`. */
  label: string
  /** The ends of the axis; by default those of the values. Shares have [0, 100]. */
  range?: readonly [number, number]
}

/** A line as small as a word, with a dot at its newest value. */
export function Sparkline({ values, label, range = rangeOf(values) }: SparklineProps) {
  const x = scaleLinear([0, values.length - 1], [MARGIN, SIZE.width - MARGIN])
  const y = scaleLinear(range, [SIZE.height - MARGIN, MARGIN])
  const points = values.map((value, index): Point => (value === null ? null : [x(index), y(value)]))
  const newest = points.at(-1)
  return (
    <svg class="sparkline" role="img" aria-label={label} viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}>
      <path class="spark-area" d={areaPath(points, SIZE.height - MARGIN)} />
      <path class="spark-line" d={linePath(points)} />
      {newest && <circle class="spark-dot" cx={newest[0]} cy={newest[1]} r={2} />}
    </svg>
  )
}

function rangeOf(values: readonly (number | null)[]): readonly [number, number] {
  const known = values.filter((value) => value !== null)
  return [Math.min(0, ...known), Math.max(1, ...known)]
}
