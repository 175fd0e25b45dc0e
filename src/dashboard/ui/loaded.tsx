import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { connection, type LoadedData } from '../data.ts'
import { Button, ErrorText } from './elements.tsx'

const PATIENCE = 1_000

interface LoadedProps<Data> {
  of: LoadedData<Data>
  /** The name of the data in a sentence, such as `the figures`. */
  what: string
  children?: (data: Data) => ComponentChildren
}

/**
 * Shows data. Before it arrives, it says that it loads or why it cannot load. Later it says why the data is old.
 */
export function Loaded<Data>({ of, what, children }: LoadedProps<Data>) {
  const { data, failure } = of
  if (data === undefined && failure === undefined) return <Waiting what={what} />
  // The top of the page says if no part of the server answers.
  const isTold = failure === undefined || (data !== undefined && connection.value === 'lost')
  return (
    <>
      {!isTold && (
        <div class={`refusal ${data === undefined ? 'bad' : 'warn'}`} role="alert">
          {data !== undefined && 'This may be out of date. '}
          <ErrorText error={failure} /> <Button words="Try again" kind="small" work={of.refresh} />
        </div>
      )}
      {data !== undefined && children?.(data)}
    </>
  )
}

/** Says after a second what the page waits for. */
function Waiting({ what }: { what: string }) {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE)
    return () => clearTimeout(timer)
  }, [])
  return (
    <p class="empty" role="status">
      {late && `Waiting for ${what}…`}
    </p>
  )
}
