import { areaPath, linePath, type Point, scaleLinear } from './plot.ts'

const SIZE = { width: 96, height: 24 } as const
/** The margin for the stroke, which is wider than the path. */
const MARGIN = 2

interface SparklineProps {
  /** Shares in per cent. The newest is last; null means that there was no value. */
  values: readonly (number | null)[]
  /** A text alternative for the line: `DMARC from 97.1 % to 62.0 % in 30 days`. */
  label: string
}

/** A line of the size of a word, with a dot at its newest value. */
export function Sparkline({ values, label }: SparklineProps) {
  const x = scaleLinear([0, values.length - 1], [MARGIN, SIZE.width - MARGIN])
  const y = scaleLinear([0, 100], [SIZE.height - MARGIN, MARGIN])
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
