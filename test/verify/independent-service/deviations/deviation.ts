import { type Answer, type Call, type Fields, type Parts, Refusal } from '../parts.ts'

/** What a judge should call a deviation. `where` is part of the JSON pointer in openapi.yaml. */
export type Named =
  | { label: 'contract violation'; where: string }
  | { label: 'broken rule'; rule: string }
  | { label: 'unexplained' }

/** The parts that are other ones; some are made of the right ones. */
export type Change = Partial<Parts> | ((right: Parts) => Partial<Parts>)

export interface Deviation {
  named: Named
  change: Change
}

export const violation = (where: string, change: Change): Deviation => ({
  named: { label: 'contract violation', where },
  change,
})
export const broken = (rule: string, change: Change): Deviation => ({ named: { label: 'broken rule', rule }, change })
export const unexplained = (change: Change): Deviation => ({ named: { label: 'unexplained' }, change })

/** Changes what is sent, where `change` returns something. */
const sends = (
  change: (answer: Answer, request: { method: string; path: string }) => Partial<Answer> | undefined,
): Change => ({ finish: (answer, request) => ({ ...answer, ...change(answer, request) }) })

/** Changes the data of successes; `at` is a path, or a method and a path. */
export const successes = (at: string, change: (data: never) => unknown) =>
  sends(({ body }, { method, path }) => {
    const { success, data } = body as Fields
    if (success !== true || !`${method} ${path}`.endsWith(at)) return undefined
    return { body: { success, data: change(structuredClone(data) as never) } }
  })

export const dataWith = (at: string, fields: Fields) => successes(at, (data: Fields) => ({ ...data, ...fields }))

/** Gives an error with this code other fields. */
export const errorWith = (fields: Fields, of: string) =>
  sends(({ body }) => {
    const { error } = body as { error?: Fields }
    return error?.['code'] === of ? { body: { success: false, error: { ...error, ...fields } } } : undefined
  })

/** Gives all responses these header fields. */
export const headersWith = (fields: Answer['headers']) =>
  sends(({ headers }) => ({ headers: { ...headers, ...fields } }))

type Operation = 'addDomains' | 'deleteDomains' | 'createGroup' | 'updateGroup' | 'deleteGroup' | 'listGroups'

/** Does it on a copy of the account, so that nothing changes. */
export const forgets =
  (name: Operation): Change =>
  (right) => ({ [name]: (call: Call) => right[name]({ ...call, account: structuredClone(call.account) }) })

/** Answers with a success instead of a refusal; by default, instead of saying that there is no such group. */
export const instead =
  (name: Operation, success: (call: Call) => Fields, code = 'not_found'): Change =>
  (right) => ({
    [name]: (call: Call) => {
      try {
        return right[name](call)
      } catch (error) {
        if (error instanceof Refusal && error.code === code) return success(call)
        throw error
      }
    },
  })

/** A request with other fields in its body. */
export const asking = (call: Call, fields: Fields): Call => ({ ...call, fields: { ...call.fields, ...fields } })
