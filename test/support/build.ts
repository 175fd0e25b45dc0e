import { spawnSync } from 'node:child_process'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** What was said when the build refused the sources; `undefined` when it built the program. */
    buildFailure: string | undefined
  }
}

/** Builds the program that tests start, once for all of them, and again before a rerun. */
export function setup(project: TestProject): void {
  const build = () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/build.mjs', '--if-changed'], {
      cwd: project.config.root,
      encoding: 'utf8',
    })
    project.provide('buildFailure', status === 0 ? undefined : `The program cannot be built: ${stdout}${stderr}`)
  }
  build()
  project.onTestsRerun(build)
}
