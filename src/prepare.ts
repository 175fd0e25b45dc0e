import { readdir, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { CONTROL_DOCUMENT, compileControlApi } from './admin/document.ts'
import { compileContract } from './contract/contract.ts'
import { keepWritten, OWN_DOCUMENT, readSource } from './contract/document.ts'
import { keepLines } from './contract/lines.ts'
import { clearPrepared, isPrepared, markPrepared, writePrepared } from './contract/prepared.ts'
import { compileStandalone } from './contract/standalone.ts'
import { writeTolerantDocument } from './contract/tolerant.ts'
import { placeOf, readPackageFile } from './ground/package-files.ts'

const TOLERANT_DOCUMENT = 'openapi.tolerant.yaml'
/** npm records the installed packages here. */
const INSTALLED = 'node_modules/.package-lock.json'

/** The last step of the build reads, checks and compiles the documents of the package. So a start need not do it. */
async function prepare(): Promise<void> {
  await clearPrepared()
  const service = await compileStandalone((compilerFor) => compileContract({ validated: false }, compilerFor))
  const control = await compileStandalone((compilerFor) => compileControlApi({ validated: false }, compilerFor))
  await writePrepared([
    { text: readPackageFile(OWN_DOCUMENT), ...service },
    { text: readPackageFile(CONTROL_DOCUMENT), ...control },
  ])
  await writeFile(placeOf(TOLERANT_DOCUMENT), await writeTolerantDocument(await readSource()))
  await keepWritten()
  await keepLines()
}

/** All inputs of the result: the documents, the program and its packages; and the result itself. */
async function listFiles(): Promise<string[]> {
  const built = await readdir(placeOf('dist'), { recursive: true })
  const program = built.filter((name) => name.endsWith('.js')).map((name) => `dist/${name}`)
  const packages = (await readdir(placeOf(dirname(INSTALLED))).catch((): string[] => [])).includes(basename(INSTALLED))
    ? [INSTALLED]
    : []
  return [OWN_DOCUMENT, CONTROL_DOCUMENT, TOLERANT_DOCUMENT, ...packages, ...program.toSorted()]
}

// Many builds change nothing of this.
if (!(await isPrepared(await listFiles()))) {
  await prepare()
  await markPrepared(await listFiles())
}
