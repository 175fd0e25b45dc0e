import { readJson } from '../../ground/json.ts'
import type { Draw } from '../injection.ts'
import type { BodyChange, CorruptionKind, PossibleChange } from './corruption-kind.ts'
import { entriesOf, replaceSpan } from './json-text.ts'
import { type BodyPlace, type ParsedResponse, placesIn, pointerOf, shuffle, spanOf } from './parsed-response.ts'

/** Text that is not JSON, as faulty servers are known to send it. */
export const malformedJson: CorruptionKind = { candidates, verify: (text) => readJson(text) === undefined }

function* candidates(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  for (const way of shuffle([cutOff, trailingComma, singleQuotes, errorPage, notANumber, control, twice], draw)) {
    const made = way(response, draw)
    if (made !== undefined) yield { about: way, make: () => made }
  }
}

function cutOff({ text }: ParsedResponse, draw: Draw): BodyChange {
  const length = 1 + Math.floor(draw() * (text.length - 1))
  // Half of a surrogate pair cannot be written in UTF-8.
  const kept = /[\ud800-\udbff]$/.test(text.slice(length - 1, length)) ? length - 1 : length
  return { text: text.slice(0, kept), change: `The answer was cut off after ${kept} of ${text.length} characters.` }
}

function trailingComma(response: ParsedResponse, draw: Draw): BodyChange | undefined {
  const place = first(response, draw, ({ value }) => typeof value === 'object' && Object.keys(value ?? {}).length > 0)
  if (place === undefined) return undefined
  const { end } = [...entriesOf(response.text, spanOf(response, place))].at(-1) ?? { end: 0 }
  return { text: replaceSpan(response.text, { start: end, end }, ','), change: `${named(place)} got a trailing comma.` }
}

function singleQuotes({ text }: ParsedResponse): BodyChange {
  return {
    text: text.replaceAll(/"([^"\\]*(?:\\.[^"\\]*)*)"/g, "'$1'"),
    change: 'The strings of the answer were put in single quotes.',
  }
}

function errorPage(): BodyChange {
  const title = '<title>502 Bad Gateway</title>'
  return {
    text: `<html>\r\n<head>${title}</head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n`,
    change: 'The answer became an error page in HTML.',
  }
}

function notANumber(response: ParsedResponse, draw: Draw): BodyChange | undefined {
  const place = first(response, draw, ({ value }) => typeof value === 'number')
  if (place === undefined) return undefined
  return { text: replaceSpan(response.text, spanOf(response, place), 'NaN'), change: `${named(place)} became NaN.` }
}

function control(response: ParsedResponse, draw: Draw): BodyChange | undefined {
  const place = first(response, draw, ({ value }) => typeof value === 'string')
  if (place === undefined) return undefined
  const { end } = spanOf(response, place)
  return {
    text: replaceSpan(response.text, { start: end - 1, end: end - 1 }, '\n'),
    change: `${named(place)} got a line break that is not escaped.`,
  }
}

function twice({ text }: ParsedResponse): BodyChange {
  return { text: `${text}\n${text}`, change: 'The answer was sent twice.' }
}

function first({ root }: ParsedResponse, draw: Draw, matches: (place: BodyPlace) => boolean): BodyPlace | undefined {
  for (const place of placesIn(root, draw)) if (matches(place)) return place
  return undefined
}

function named(place: BodyPlace): string {
  return pointerOf(place) || 'The answer'
}
