import { expect, it } from 'vitest'
import { mistakesAbout, OBSERVABLE } from './deciding.ts'

it.each(OBSERVABLE)('of %s a client has a request that decides it, and nobody is accused', async (name) => {
  expect(await mistakesAbout(name)).toEqual([])
})
