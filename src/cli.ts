#!/usr/bin/env node
import { runProgram } from './cli/program.ts'
import { openProcessTerminal } from './cli/terminal.ts'

process.exitCode = await runProgram(process.argv.slice(2), openProcessTerminal())
