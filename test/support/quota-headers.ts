/** The three quota headers, as numbers; `undefined` where one is absent. */
export function quotaOf(headers: Readonly<Record<string, string>>): Record<string, number | undefined> {
  const read = (name: string) => (headers[name] === undefined ? undefined : Number(headers[name]))
  return {
    limit: read('x-ratelimit-limit'),
    remaining: read('x-ratelimit-remaining'),
    reset: read('x-ratelimit-reset'),
  }
}

export const NO_QUOTA = { limit: undefined, remaining: undefined, reset: undefined }
