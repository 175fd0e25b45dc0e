import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CONTROL_DOCUMENT, compileControlApi } from './admin/document.ts'
import { compileContract } from './contract/contract.ts'
import { OWN_DOCUMENT } from './contract/document.ts'
import { writePrepared } from './contract/prepared.ts'
import { compileStandalone } from './contract/standalone.ts'
import { writeTolerantDocument } from './contract/tolerant.ts'
import { keepForesight } from './evidence/verify/foresight.ts'

// The last step of the build reads, checks and compiles the documents of the package, so that no start has to.
const service = await compileStandalone((compilerFor) => compileContract({ validated: false }, compilerFor))
const control = await compileStandalone((compilerFor) => compileControlApi({ validated: false }, compilerFor))
await writePrepared([
  { text: await readFile(OWN_DOCUMENT), ...service },
  { text: await readFile(CONTROL_DOCUMENT), ...control },
])
await writeFile(join(import.meta.dirname, '../openapi.tolerant.yaml'), await writeTolerantDocument(service.source))
// It takes seconds, for which nobody who starts `verify` has to wait.
await keepForesight()
