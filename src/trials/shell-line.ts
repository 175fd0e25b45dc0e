/**
 * A line for a shell that runs a command with exactly these words. It stays one line, and keeps its meaning where control
 * characters are not shown: those are written as in `$'\n'`, which bash, zsh, ksh and ash read.
 */
export function writeShellLine(words: readonly string[]): string {
  return words.map(quote).join(' ')
}

function quote(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  if (!/\p{Cc}/u.test(word)) return `'${word.replaceAll("'", `'\\''`)}'`
  const escaped = word.replaceAll(/[\\']/g, '\\$&').replaceAll(/\p{Cc}/gu, escapeControl)
  return `$'${escaped}'`
}

function escapeControl(character: string): string {
  if (character === '\n') return '\\n'
  if (character === '\t') return '\\t'
  // In bytes of UTF-8, three digits each, so that what follows is no part of it.
  return [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}
