import type { Catalogue } from '../contract/catalogue.ts'
import type { Problems } from '../domain/errors.ts'

/** A refusal by the control plane: its envelope names every problem, the one that the catalogue ranks first before the others. */
export function describeRefusal(catalogue: Catalogue, problems: Problems<string>) {
  const first = catalogue.foremost(problems)
  const { status, code, message } = catalogue.answer(first)
  const all = [first, ...problems.filter((problem) => problem !== first)].map((problem) => {
    const answer = catalogue.answer(problem)
    return { code: answer.code, field: problem.field ?? null, message: answer.message }
  })
  return { status, body: { success: false as const, error: { code, message, problems: all } } }
}
