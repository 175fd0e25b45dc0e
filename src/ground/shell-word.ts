/** A word of a command for a POSIX shell. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/**
 * A command line for exactly these words. It stays on one line even with control characters. They are written like
 * `$'\n'`, which bash, zsh, ksh and ash support.
 */
export function writeShellLine(words: readonly string[]): string {
  return words.map(quote).join(' ')
}

function quote(word: string): string {
  if (!/\p{Cc}/u.test(word)) return quoteWord(word)
  const escaped = word.replaceAll(/[\\']/g, '\\$&').replaceAll(/\p{Cc}/gu, escapeControl)
  return `$'${escaped}'`
}

function escapeControl(character: string): string {
  if (character === '\n') return '\\n'
  if (character === '\t') return '\\t'
  // Each byte of the UTF-8 text has three digits, so that a following digit is not read as part of it.
  return [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}
