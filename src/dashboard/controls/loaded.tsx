import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Refused } from '../refusals.ts'
import type { Resource } from '../resource.ts'
import { Button } from './button.tsx'
import { ErrorText } from './notices.tsx'

/** For how many milliseconds something may be loaded without a word. */
const PATIENCE = 1_000

interface LoadedProps<Data> {
  of: Resource<Data>
  /** Stands here while nothing has arrived; by default, words after a second. */
  loading?: ComponentChildren
  children(data: Data): ComponentChildren
}

/** What a resource has loaded. Before that, it says that it loads or why it cannot; later, why the data is old. */
export function Loaded<Data>({ of: resource, loading = <Loading />, children }: LoadedProps<Data>) {
  const data = resource.data.value
  const failure = resource.failure.value
  if (data === undefined) {
    if (failure === undefined) return <>{loading}</>
    return (
      <div class="refusal bad" role="alert">
        <ErrorText error={failure} />{' '}
        <Button small work={() => resource.refresh().catch(() => undefined)}>
          Try again
        </Button>
      </div>
    )
  }
  return (
    <>
      {/* The page says at its top when the server does not answer. */}
      {failure instanceof Refused && (
        <p class="refusal warn" role="status">
          This is not the newest. <ErrorText error={failure} />
        </p>
      )}
      {children(data)}
    </>
  )
}

/** Says that something is being loaded, when that takes longer than people wait without a word. */
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
