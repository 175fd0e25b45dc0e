import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Refused } from '../refusals.ts'
import type { Resource } from '../resource.ts'
import { Button } from './button.tsx'
import { ErrorText } from './notices.tsx'

/** How long loading stays silent, in milliseconds. */
const PATIENCE = 1_000

interface LoadedProps<Data> {
  of: Resource<Data>
  /** The content before the data arrives; by default, words after a second. */
  loading?: ComponentChildren
  children(data: Data): ComponentChildren
}

/**
 * Shows the data of a resource. Before the data arrives, it says that it loads or why it cannot load. Later it says why
 * the data is old.
 */
export function Loaded<Data>({ of: resource, loading = <Loading />, children }: LoadedProps<Data>) {
  const data = resource.data.value
  const failure = resource.failure.value
  if (data === undefined) {
    if (failure === undefined) return <>{loading}</>
    return (
      <div class="refusal bad" role="alert">
        <ErrorText error={failure} />{' '}
        <Button words="Try again" small work={() => resource.refresh().catch(() => undefined)} />
      </div>
    )
  }
  return (
    <>
      {/* The top of the page says if the server does not answer. */}
      {failure instanceof Refused && (
        <p class="refusal warn" role="status">
          This may be out of date. <ErrorText error={failure} />
        </p>
      )}
      {children(data)}
    </>
  )
}

/**
 * The answer of a call. It is asked again when one of the values in `of` changes, and forgotten when the first one
 * changes, which says what the answer is about. Without `load`, nothing is asked.
 */
export function useAnswer<Data>(
  of: readonly [subject: string, ...rest: unknown[]],
  load: ((signal: AbortSignal) => Promise<Data>) | undefined,
): { data?: Data; failure?: unknown } {
  const [answer, setAnswer] = useState<{ subject?: string; data?: Data; failure?: unknown }>({})
  const [subject] = of
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    load?.(signal).then(
      (data) => signal.aborted || setAnswer({ subject, data }),
      (failure) => signal.aborted || setAnswer({ subject, failure }),
    )
    return () => leaving.abort()
  }, of)
  return answer.subject === subject ? answer : {}
}

/** Says that something loads, after a short delay. */
export function Loading({ children = 'Loading…' }: { children?: ComponentChildren }) {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE)
    return () => clearTimeout(timer)
  }, [])
  return late ? (
    <p class="empty" role="status">
      {children}
    </p>
  ) : null
}
