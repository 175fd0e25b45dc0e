import { describe, expect, it } from 'vitest'
import {
  Course,
  countChanges,
  type Schedule,
  type Strand,
  scheduleOf,
  writePlan,
} from '../../../src/trials/beside/schedule.ts'

const strands = (text: string): Strand[] =>
  text.split(' ').map((word) => ({ side: word.startsWith('1') ? 0 : 1, ...(word[1] && { thread: Number(word[1]) }) }))
const stepsOf = (text: string, threads: readonly number[]) =>
  strands(text).map((strand) => ({ strand: { thread: 1, ...strand }, threads }))

/** The requests of a walk in which each command sends so many one after the other. */
function walk(schedule: Schedule, requests: [number, number]): string {
  const course = new Course(schedule)
  const left = [...requests] as [number, number]
  let taken = ''
  while (left[0] + left[1] > 0) {
    if (left[course.side] === 0) course.passOver()
    const { side } = course.take([1])
    left[side]--
    taken += side + 1
  }
  return `${taken}${course.isFollowed ? '' : ' otherwise'}`
}

describe('a schedule', () => {
  it.each([
    ['1', [{ command: 1 }]],
    ['1 1 2', [{ command: 1, requests: 2 }, { command: 2 }]],
    ['1 2 2 1', [{ command: 1, requests: 1 }, { command: 2, requests: 2 }, { command: 1 }]],
    [
      '11 12 12',
      [
        { command: 1, thread: 1, requests: 1 },
        { command: 1, thread: 2 },
      ],
    ],
  ])('%s is the plan %j, and the plan is the schedule without what follows by itself', (text, plan) => {
    expect(writePlan(strands(text))).toEqual(plan)
    expect(writePlan(scheduleOf(writePlan(strands(text))))).toEqual(plan)
  })

  it.each<[schedule: string, requests: [number, number], taken: string]>([
    ['1', [2, 2], '1122'],
    ['2', [2, 2], '2211'],
    ['1 2', [2, 2], '1221'],
    ['1 2 1', [2, 2], '1212'],
    ['1 1 1', [2, 1], '112 otherwise'],
    ['2 1 2', [3, 1], '2111 otherwise'],
  ])('%s of %j requests: %s', (schedule, requests, taken) => {
    expect(walk(strands(schedule), requests)).toBe(taken)
  })

  it('goes on with the last thread of a command, or else with the lowest', () => {
    const course = new Course(strands('12 2'))
    expect(course.take([1, 2])).toEqual({ side: 0, thread: 2 })
    expect(course.take([3, 4])).toEqual({ side: 1, thread: 3 })
    course.passOver()
    expect(course.take([1, 2])).toEqual({ side: 0, thread: 2 })
    expect(course.take([1, 3])).toEqual({ side: 0, thread: 1 })
    expect(course.isFollowed).toBe(true)
  })

  it('is not followed if its thread has no request', () => {
    const course = new Course(strands('13 2'))
    expect(course.take([1, 2])).toEqual({ side: 0, thread: 1 })
    expect([course.isFollowed, course.side]).toEqual([false, 0])
  })

  it.each<[steps: string, threads: number[], length: number, switches: number, overtakings: number]>([
    ['1 1 2 2', [1], 4, 0, 0],
    ['1 2 2 1', [1], 4, 1, 0],
    ['1 2 1 2', [1], 4, 2, 0],
    ['1 2 1 2', [1], 2, 1, 0],
    ['11 12 12 11', [1, 2], 4, 0, 2],
    ['12 12 21', [1, 2], 3, 0, 1],
  ])(
    '%s with the threads %j, of which %i are planned: %i switches, %i overtakings',
    (text, threads, length, switches, overtakings) => {
      expect(countChanges(strands(text).slice(0, length), stepsOf(text, threads))).toEqual({ switches, overtakings })
    },
  )
})
