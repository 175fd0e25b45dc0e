import { readFile } from 'node:fs/promises'
import { ADMIN_CODES } from './admin/codes.ts'
import { CONTROL_DOCUMENT } from './admin/document.ts'
import { compileContract } from './contract/contract.ts'
import { OWN_DOCUMENT, readDocument, resolveDocument } from './contract/document.ts'
import { writePrepared } from './contract/prepared.ts'

// The last step of the build.
const { document: service } = await compileContract({ unprepared: true })
const control = await resolveDocument(
  await readDocument({ path: CONTROL_DOCUMENT, codes: ADMIN_CODES, proved: true, unprepared: true }),
)
await writePrepared([
  { text: await readFile(OWN_DOCUMENT, 'utf8'), source: service.source, resolved: service.resolved },
  { text: await readFile(CONTROL_DOCUMENT, 'utf8'), source: control.source, resolved: control.resolved },
])
