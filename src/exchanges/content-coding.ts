import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'

/**
 * Bytes without their content coding; `undefined` if they are more than `limit`. The result is the same bytes if the
 * coding is unknown, or if they do not have it, for example because a recorder has already removed it.
 */
export function undoCoding(bytes: Buffer, coding: string, limit: number): Buffer | undefined {
  const limits = { maxOutputLength: limit }
  try {
    if (coding === 'gzip' || coding === 'x-gzip') return gunzipSync(bytes, limits)
    if (coding === 'deflate') return inflateSync(bytes, limits)
    if (coding === 'br') return brotliDecompressSync(bytes, limits)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? undefined : bytes
  }
  return bytes
}
