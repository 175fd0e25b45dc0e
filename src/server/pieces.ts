/** The number of pieces of a body that is sent slowly. */
const PIECES = 20

/** A body in small pieces, of which the last one comes after the given milliseconds. */
export async function* inPieces(
  bytes: Buffer,
  milliseconds: number,
  wait: (milliseconds: number) => Promise<void>,
): AsyncGenerator<Buffer> {
  const size = Math.max(1, Math.ceil(bytes.length / PIECES))
  const gaps = Math.max(1, Math.ceil(bytes.length / size) - 1)
  for (let start = 0; start < bytes.length; start += size) {
    if (start > 0) await wait(milliseconds / gaps)
    yield bytes.subarray(start, start + size)
  }
}
