import { clearTimeout, setTimeout } from './timers.ts'

/** Waits the given milliseconds, or without limit, but only until one of the signals is aborted. */
export function waitUntil(
  milliseconds: number | undefined,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<void> {
  const endings = signals.filter((signal) => signal !== undefined)
  if (milliseconds === 0 || endings.some(({ aborted }) => aborted)) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = milliseconds === undefined ? undefined : setTimeout(finish, milliseconds)
    function finish(): void {
      clearTimeout(timer)
      for (const ending of endings) ending.removeEventListener('abort', finish)
      resolve()
    }
    for (const ending of endings) ending.addEventListener('abort', finish, { once: true })
  })
}
