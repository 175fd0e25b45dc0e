import { useLayoutEffect, useState } from 'preact/hooks'

/** In pixels: a row is never lower, because it has buttons that are touched. */
const LEAST = 40
/** The height of a row with one line of text, in rem. */
const LINE = 2.8

interface RowSizes {
  /** The height of the part of a list that is seen, in pixels. */
  height: number
  /** The height of a row, in pixels. */
  row: number
}

/** The sizes of a list with rows of one height. `heightOf` says how high a row is where it has more than a line of text. */
export function useRowSizes(
  place: { readonly current: HTMLElement | null },
  heightOf: (rem: number) => number = heightOfLine,
): RowSizes {
  const [sizes, setSizes] = useState<RowSizes>({ height: 600, row: 44 })
  useLayoutEffect(() => {
    const node = place.current
    if (node === null) return
    const measure = () => {
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
      const [height, row] = [node.clientHeight, heightOf(rem)]
      setSizes((known) => (known.height === height && known.row === row ? known : { height, row }))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(node)
    return () => observer.disconnect()
  }, [])
  return sizes
}

/** The height of a row with one line of text, in pixels. */
export function heightOfLine(rem: number): number {
  return Math.max(LEAST, Math.round(LINE * rem))
}
