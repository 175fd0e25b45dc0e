/** Writes an RFC 3339 instant for people, without fractions of a second. */
export function formatInstant(text: string): string {
  return text.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')
}

export function formatCount(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`
}

export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

export function formatDuration(milliseconds: number): string {
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds).toLocaleString('en')} ms`
}
