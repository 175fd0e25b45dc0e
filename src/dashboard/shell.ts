/** Quotes a text as one word of a POSIX shell. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The curl options that authorize a request: with the key, or with a variable if the key is secret. */
export function authorizeCurl(key: string | null): string {
  // The shell expands variables only in double quotes.
  return `-H ${key === null ? '"Authorization: Bearer $API_KEY"' : quoteWord(`Authorization: Bearer ${key}`)}`
}
