import type { ListedRequest } from './listed-request.ts'

/**
 * The requests above which a list names their day, because the day of the row above is another one, with a key for the
 * name. The clock of an account may go back, so a day may be there twice.
 */
export function dividersIn(list: readonly Pick<ListedRequest, 'at'>[]): ReadonlyMap<unknown, string> {
  const dividers = new Map<unknown, string>()
  const times = new Map<string, number>()
  let last = ''
  for (const request of list) {
    const day = request.at.slice(0, 10)
    if (day === last) continue
    last = day
    const time = (times.get(day) ?? 0) + 1
    times.set(day, time)
    dividers.set(request, `${day} ${time}`)
  }
  return dividers
}
