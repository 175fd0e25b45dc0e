import { type Answer, type Call, type Fields, type Parts, Refusal } from '../parts.ts'

/** What a judge should call a deviation. `where` is part of the JSON pointer in openapi.yaml. */
export type Named =
  | { label: 'contract violation'; where?: string }
  | { label: 'broken rule'; rule: string }
  | { label: 'decides assumption'; assumption: string; alternative: number }
  | { label: 'unexplained' }
  /** The specification leaves it open, and no alternative is like it. */
  | { label: 'cannot tell'; where: string }

/** What it takes to see it. */
export type Shows =
  /** Any one response to a GET, or one that asks for it. */
  | 'read'
  /** Several GETs that are compared, or that use up a quota. */
  | 'reads'
  /** One response to a request that changes the account, or should be refused. */
  | 'write'
  /** A change, and a look at the account afterwards. */
  | 'write and read'
  /** Several GETs, and only to who knows which keys the account has: exchanges do not tell. */
  | 'keys'

export interface Deviation {
  id: string
  says: string
  named: Named
  shows: Shows
  /** Why nobody sees it who has one key, keeps to the quotas and does no harm. */
  hidden?: string
  change(parts: Parts): void
}

type Place = Pick<Deviation, 'shows' | 'named'>

export const broken = (rule: string, shows: Shows): Place => ({ named: { label: 'broken rule', rule }, shows })
export const violation = (where: string, shows: Shows): Place => ({
  named: { label: 'contract violation', where },
  shows,
})
export const leftOpen = (where: string, shows: Shows): Place => ({ named: { label: 'cannot tell', where }, shows })
export const permitted = (assumption: string, alternative: number, shows: Shows): Place => ({
  named: { label: 'decides assumption', assumption, alternative },
  shows,
})
export const unexplained = (shows: Shows): Place => ({ named: { label: 'unexplained' }, shows })

/** Changes what is sent, where `change` returns something. */
export function sends(
  change: (answer: Answer, request: { method: string; path: string }) => Partial<Answer> | undefined,
) {
  return (parts: Parts) => {
    parts.finish = (answer, request) => ({ ...answer, ...change(answer, request) })
  }
}

/** Changes the data of successes; `at` is a path, or a method and a path. */
export const successes = (change: (data: never) => unknown, at?: string) =>
  sends(({ body }, { method, path }) => {
    const { success, data } = body as Fields
    if (success !== true || (at !== undefined && !`${method} ${path}`.endsWith(at))) return undefined
    return { body: { success, data: change(structuredClone(data) as never) } }
  })

/** Changes the body of refusals. */
export const refusals = (change: (error: Fields, status: number) => Partial<Answer>) =>
  sends(({ body, status }) => {
    const { error } = body as { error?: Fields }
    return error === undefined ? undefined : change(error, status)
  })

export const statusFor = (code: string, status: number) =>
  refusals((error, usual) => (error['code'] === code ? { status } : { status: usual }))

export const header = (change: (headers: Answer['headers']) => Answer['headers']) =>
  sends(({ headers }) => ({ headers: change({ ...headers }) }))

export const without = (start: string) =>
  header((headers) => Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(start))))

export const quotaHeader = (name: string, change: (value: number) => string) =>
  header((headers) => {
    const value = headers[name]
    return value === undefined ? headers : { ...headers, [name]: change(Number(value)) }
  })

/** Changes one operation; `right` is what it does otherwise. */
export function operation<
  Name extends 'addDomains' | 'deleteDomains' | 'createGroup' | 'updateGroup' | 'deleteGroup' | 'listGroups',
>(name: Name, change: (right: (call: Call) => Fields, call: Call) => Fields) {
  return (parts: Parts) => {
    const right = parts[name].bind(parts)
    parts[name] = (call: Call) => change(right, call)
  }
}

/** Does it on a copy of the account, so that nothing changes. */
export const forgets = (right: (call: Call) => Fields, call: Call) =>
  right({ ...call, account: structuredClone(call.account) })

/** Answers with a success instead of this refusal. */
export const instead =
  (code: string, success: (call: Call) => Fields) => (right: (call: Call) => Fields, call: Call) => {
    try {
      return right(call)
    } catch (error) {
      if (error instanceof Refusal && error.code === code) return success(call)
      throw error
    }
  }

export function changeCode(code: string, other: string) {
  return refusals((error) =>
    error['code'] === code ? { body: { success: false, error: { ...error, code: other } } } : {},
  )
}
