#!/usr/bin/env node
import { runProgram } from './cli/program.ts'
import { openProcessTerminal } from './cli/terminal.ts'

void runProgram(process.argv.slice(2), openProcessTerminal()).then((code) => {
  process.exitCode = code
})
