import type { Socket } from 'node:net'
import { waitUntil } from '../waiting.ts'

/** Waits the given milliseconds, or without limit, but only until the connection or the server ends. */
export async function waitOn(socket: Socket, milliseconds: number | undefined, stopping: AbortSignal): Promise<void> {
  if (socket.destroyed || stopping.aborted || milliseconds === 0) return
  const leaving = new AbortController()
  const finish = () => leaving.abort()
  // A client that gives up looks like a client that has only finished sending. Only faults make requests wait here, and
  // clients give up because of them. While the service itself works, a client is expected to wait for the answer, see
  // `createHttpServer`.
  const leave = () => void socket.end()
  socket.once('close', finish)
  if (socket.readableEnded) leave()
  else socket.once('end', leave)
  await waitUntil(milliseconds, stopping, leaving.signal)
  socket.off('close', finish).off('end', leave)
}
