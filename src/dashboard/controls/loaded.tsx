import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { connection } from '../exchanges.ts'
import type { Resource } from '../resource.ts'
import { Button } from './button.tsx'
import { ErrorText } from './notices.tsx'

/** How long loading stays silent, in milliseconds. */
const PATIENCE = 1_000

interface LoadedProps<Data> {
  of: Resource<Data>
  /** The name of the data in a sentence, such as `the figures`. */
  what?: string
  /** The content before the data arrives. By default, words say after a second what the page waits for. */
  loading?: ComponentChildren
  children(data: Data): ComponentChildren
}

/**
 * Shows the data of a resource. Before the data arrives, it says that it loads or why it cannot load. Later it says why
 * the data is old.
 */
export function Loaded<Data>({ of: resource, what, loading, children }: LoadedProps<Data>) {
  const data = resource.data.value
  const failure = resource.failure.value
  if (data === undefined) {
    if (failure === undefined) return loading ?? <Waiting what={what} />
    return <Failed of={resource} />
  }
  return (
    <>
      <Old of={resource} />
      {children(data)}
    </>
  )
}

/** Says why a resource could not be loaded. */
function Failed({ of: resource }: { of: Resource<unknown> }) {
  return (
    <div class="refusal bad" role="alert">
      <ErrorText error={resource.failure.value} /> <TryAgain of={resource} />
    </div>
  )
}

/** Says why the data of a resource is old, if it is. */
export function Old({ of: resource, says = 'This may be out of date.' }: { of: Resource<unknown>; says?: string }) {
  const failure = resource.failure.value
  // The top of the page says if no part of the server answers.
  if (failure === undefined || connection.value === 'lost') return null
  return (
    <p class="refusal warn" role="status">
      {says} <ErrorText error={failure} /> <TryAgain of={resource} />
    </p>
  )
}

function TryAgain({ of: resource }: { of: Resource<unknown> }) {
  return <Button words="Try again" small work={() => resource.refresh().catch(() => undefined)} />
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
    if (load === undefined) return undefined
    load(signal).then(
      (data) => signal.aborted || setAnswer({ subject, data }),
      (failure) => signal.aborted || setAnswer({ subject, failure }),
    )
    return () => leaving.abort()
  }, of)
  return answer.subject === subject ? answer : {}
}

/**
 * Says after a second what the page waits for. `children` is the place of what is awaited. The words lie on it, so that
 * nothing moves when they appear.
 */
export function Waiting({
  what = 'the server',
  children,
}: {
  what?: string | undefined
  children?: ComponentChildren
}) {
  return (
    <div class="waiting">
      {children}
      <Loading>{`Waiting for ${what}…`}</Loading>
    </div>
  )
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
