import { useLayoutEffect, useState } from 'preact/hooks'

/** The least height of a row in pixels, because its buttons must be easy to touch. */
const LEAST = 40
/** The height of a row with one line of text, in rem. */
const LINE = 2.8

interface RowSizes {
  /** The height of the visible part of a list, in pixels. */
  height: number
  /** The height of a row, in pixels. */
  row: number
}

/** The sizes of a list with rows of equal height. `heightOf` is for rows with more than one line of text. */
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
