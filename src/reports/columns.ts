/** Characters that are two columns wide on a terminal. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u
/** Characters that combine with the one before them and have no width. */
const NARROW = /\p{Mn}|\p{Me}|\p{Cf}/u

function columnsOf(character: string): number {
  return NARROW.test(character) ? 0 : WIDE.test(character) ? 2 : 1
}

/** How many columns a text takes on a terminal. Colour codes take none. */
export function widthOf(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it begins what sets a colour
  const shown = text.replaceAll(/\u001b\[\d+m/g, '')
  if (/^[ -~]*$/.test(shown)) return shown.length
  return [...shown].reduce((sum, character) => sum + columnsOf(character), 0)
}

/** Shortens a text to a width. An ellipsis replaces the rest. */
export function shortenToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let [start, width] = ['', 0]
  for (const character of text) {
    width += columnsOf(character)
    // One column is for the ellipsis.
    if (width > columns - 1) break
    start += character
  }
  return `${start}…`
}

/** Wraps a text at spaces. A word that is longer than a line is split. */
export function foldToWidth(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line === '' || widthOf(longer) <= columns) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line].flatMap((each) => breakLine(each, columns))
}

function breakLine(text: string, columns: number): string[] {
  if (widthOf(text) <= columns) return [text]
  const lines: string[] = []
  let [line, width] = ['', 0]
  for (const character of text) {
    const wider = columnsOf(character)
    if (width + wider > columns && line !== '') {
      lines.push(line)
      line = ''
      width = 0
    }
    line += character
    width += wider
  }
  return [...lines, line]
}
