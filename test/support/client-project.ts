import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM, ROOT } from './program-process.ts'

/** Makes a project of the folder that has the program among its packages, so that npx finds it there. */
export function makeProject(folder: string): void {
  mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"name": "client", "version": "1.0.0"}')
  symlinkSync(ROOT, join(folder, 'node_modules', 'dmarc-understudy'))
  symlinkSync(PROGRAM, join(folder, 'node_modules', '.bin', 'dmarc-understudy'))
}
