import type { Socket } from 'node:net'

/** Waits the given milliseconds, or without limit, but only until the connection, if there is one, or the server ends. */
export function waitOn(
  socket: Socket | undefined,
  milliseconds: number | undefined,
  stopping: AbortSignal,
): Promise<void> {
  if (milliseconds === 0 || socket?.destroyed || stopping.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = milliseconds === undefined ? undefined : setTimeout(finish, milliseconds)
    function finish(): void {
      clearTimeout(timer)
      socket?.off('close', finish).off('end', leave)
      stopping.removeEventListener('abort', finish)
      resolve()
    }
    // A client that gives up looks like a client that has only finished sending. Only faults make requests wait here, and
    // clients give up because of them. While the service itself works, a client is expected to wait for the answer, see
    // `createHttpServer`.
    function leave(): void {
      socket?.end()
    }
    socket?.once('close', finish)
    if (socket?.readableEnded) leave()
    else socket?.once('end', leave)
    stopping.addEventListener('abort', finish, { once: true })
  })
}
