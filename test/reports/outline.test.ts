import { expect, it } from 'vitest'
import { listFacts, listSection, tableSection } from '../../src/reports/outline.ts'

it('leaves out what does not apply, and keeps the order of the rest', () => {
  expect(listFacts({ Runs: '2', Left: false, Effects: '' })).toEqual([
    { name: 'Runs', value: '2' },
    { name: 'Effects', value: '' },
  ])
  expect([tableSection('Risks', ['Name'], []), listSection('Gaps', [])]).toEqual([[], []])
  expect(tableSection('Risks', ['Name'], [['one']])).toEqual([
    { title: 'Risks', blocks: [{ kind: 'table', columns: ['Name'], rows: [['one']] }] },
  ])
})
