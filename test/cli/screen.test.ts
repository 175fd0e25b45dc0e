import { WriteStream } from 'node:tty'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openScreen } from '../../src/cli/terminal.ts'

/** A terminal that asks the environment about colours, as those of Node.js do. */
function terminal(size: { columns: number; rows: number }): NodeJS.WriteStream {
  const { hasColors, getColorDepth } = WriteStream.prototype
  return { isTTY: true, ...size, hasColors, getColorDepth } as unknown as NodeJS.WriteStream
}

const SIZE = { columns: 120, rows: 40 }
const DECISIVE = ['NO_COLOR', 'NODE_DISABLE_COLORS', 'FORCE_COLOR', 'TERM', 'COLORTERM', 'CI', 'TMUX', 'TERM_PROGRAM']

describe('the screen of standard error', () => {
  beforeEach(() => {
    for (const name of DECISIVE) vi.stubEnv(name, undefined)
    vi.stubEnv('TERM', 'xterm-256color')
  })
  afterEach(() => void vi.unstubAllEnvs())

  it('of a file or a pipe has no size and no colours, whatever the environment says', () => {
    vi.stubEnv('FORCE_COLOR', '1')
    expect(openScreen({ isTTY: false } as NodeJS.WriteStream)).toEqual({ size: undefined, colours: false })
  })

  it('of a terminal has its size, and colours', () => {
    expect(openScreen(terminal(SIZE))).toEqual({ size: SIZE, colours: true })
  })

  it.each([
    ['NO_COLOR', '1'],
    ['TERM', 'dumb'],
  ])('has no colours with %s=%s', (name, value) => {
    vi.stubEnv(name, value)
    expect(openScreen(terminal(SIZE))).toEqual({ size: SIZE, colours: false })
  })

  it('is the usual one where the terminal does not tell its size', () => {
    expect(openScreen(terminal({ columns: 0, rows: 0 })).size).toEqual({ columns: 80, rows: 24 })
  })
})
