import { it } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { expectKept } from './restart.ts'

it('A server on a folder answers as the corpus says, and the next one has every account as it was', async () => {
  await expectKept({ data: temporaryFolder() })
})
