import type { Catalogue } from '../contract/catalogue.ts'
import type { Problems } from '../domain/errors.ts'
import { errorEnvelope } from '../http/envelope.ts'

/** How many problems are listed; a body of megabytes could have as many. */
const LISTED = 100

/** A refusal by the control plane: its envelope names the problems, the one that the catalogue ranks first before the others. */
export function describeRefusal(catalogue: Catalogue, problems: Problems<string>) {
  const first = catalogue.foremost(problems)
  const { status, code, message } = catalogue.answer(first)
  const all = [first, ...problems.filter((problem) => problem !== first)].slice(0, LISTED).map((problem) => {
    const answer = catalogue.answer(problem)
    return { code: answer.code, field: problem.field ?? null, message: printable(answer.message) }
  })
  return { status, body: errorEnvelope({ code, message: printable(message), problems: all }) }
}

/** A message ends up on terminals and in logs, where a control character would do what the client says. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
