import { expect, it } from 'vitest'
import { readPacked } from '../support/packed-package.ts'

const CONTENTS = { name: 'dmarc-understudy', size: 7, files: [{ path: 'package.json' }] }

it.for<[npm: string, printed: unknown]>([
  ['npm 11', [CONTENTS]],
  ['npm 12', { 'dmarc-understudy': CONTENTS }],
])('the contents of the package are read from what %s prints', ([, printed]) => {
  expect(readPacked(JSON.stringify(printed))).toEqual(CONTENTS)
})
