#!/usr/bin/env node
import { runProgram } from './cli/program.ts'
import { openProcessTerminal } from './cli/terminal.ts'

/** These commands end after a few seconds. */
const BRIEF = ['check', 'calibrate', 'verify']

const args = process.argv.slice(2)
// In Node 20, the engine optimises code so early that this takes a third of their time. Later engines have no such
// option, because they try a cheaper compiler first.
if (BRIEF.includes(args[0] ?? '') && process.versions.node.startsWith('20.')) {
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString('--interrupt-budget=600000')
}
process.exitCode = await runProgram(args, openProcessTerminal())
