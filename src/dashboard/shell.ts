/** A text as one word of a POSIX shell. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The options of curl that authorize a request: with the key, or with the variable that has it if the key is secret. */
export function authorizeCurl(key: string | null): string {
  // The shell expands a variable only between these quotes.
  return `-H ${key === null ? '"Authorization: Bearer $API_KEY"' : quoteWord(`Authorization: Bearer ${key}`)}`
}
