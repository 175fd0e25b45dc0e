import { type Answer, type Candidate, type Draw, type Place, placesIn, pointerOf, shuffle, spanOf } from './answer.ts'
import { entriesOf, replaceSpan } from './json-text.ts'

type Made = ReturnType<Candidate['make']>

/** Text in place of JSON, as faulty servers are known to send it. */
export function* malformedCandidates(answer: Answer, draw: Draw): Generator<Candidate> {
  for (const way of shuffle([cutOff, trailingComma, singleQuotes, errorPage, notANumber, control, twice], draw)) {
    const made = way(answer, draw)
    if (made !== undefined) yield { about: way, make: () => made }
  }
}

function cutOff({ text }: Answer, draw: Draw): Made {
  const length = 1 + Math.floor(draw() * (text.length - 1))
  // Half of a surrogate pair would not survive the way to bytes.
  const kept = /[\ud800-\udbff]$/.test(text.slice(length - 1, length)) ? length - 1 : length
  return { text: text.slice(0, kept), change: `The answer was cut off after ${kept} of ${text.length} characters.` }
}

function trailingComma(answer: Answer, draw: Draw): Made | undefined {
  const place = first(answer, draw, ({ value }) => typeof value === 'object' && Object.keys(value ?? {}).length > 0)
  if (place === undefined) return undefined
  const { end } = [...entriesOf(answer.text, spanOf(answer, place))].at(-1) ?? { end: 0 }
  return { text: replaceSpan(answer.text, { start: end, end }, ','), change: `${named(place)} got a trailing comma.` }
}

function singleQuotes({ text }: Answer): Made {
  return {
    text: text.replaceAll(/"([^"\\]*(?:\\.[^"\\]*)*)"/g, "'$1'"),
    change: 'The strings of the answer were put in single quotes.',
  }
}

function errorPage(): Made {
  const title = '<title>502 Bad Gateway</title>'
  return {
    text: `<html>\r\n<head>${title}</head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n`,
    change: 'The answer became an error page in HTML.',
  }
}

function notANumber(answer: Answer, draw: Draw): Made | undefined {
  const place = first(answer, draw, ({ value }) => typeof value === 'number')
  if (place === undefined) return undefined
  return { text: replaceSpan(answer.text, spanOf(answer, place), 'NaN'), change: `${named(place)} became NaN.` }
}

function control(answer: Answer, draw: Draw): Made | undefined {
  const place = first(answer, draw, ({ value }) => typeof value === 'string')
  if (place === undefined) return undefined
  const { end } = spanOf(answer, place)
  return {
    text: replaceSpan(answer.text, { start: end - 1, end: end - 1 }, '\n'),
    change: `${named(place)} got a line break that is not escaped.`,
  }
}

function twice({ text }: Answer): Made {
  return { text: `${text}\n${text}`, change: 'The answer was sent twice.' }
}

function first({ root }: Answer, draw: Draw, matches: (place: Place) => boolean): Place | undefined {
  for (const place of placesIn(root, draw)) if (matches(place)) return place
  return undefined
}

function named(place: Place): string {
  return pointerOf(place) || 'The answer'
}
