import { connection } from '../exchanges.ts'
import { PLAYS_SERVICE } from '../facts.ts'
import { Tabs } from '../tabs.tsx'
import { ClockLine } from '../time/clock-line.tsx'
import { VerdictPill } from '../verdict/pill.tsx'
import { AccountPicker } from './picker.tsx'

const STATES = {
  connecting: { words: 'Connecting', tone: '' },
  live: { words: 'Live', tone: 'good' },
  lost: { words: 'Reconnecting…', tone: 'warn' },
} as const

/** The title of the page, the state of the server and its clients, the selected account, and its views. */
export function Header() {
  const { words, tone } = STATES[connection.value]
  return (
    <header class="top">
      <div class="bar-top">
        <div class="brand">
          <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
            <path d="M12 3l8 3v6c0 4.6-3.3 7.900-8 9-4.700-1.100-8-4.400-8-9V6z" />
            <path d="M8.500 12l2.500 2.500 4.500-5" />
          </svg>
          <h1>dmarc-understudy</h1>
        </div>
        <div class="states">
          <span id="connection" class={`pill dot ${tone}`} role="status">
            {words}
          </span>
          <VerdictPill />
        </div>
        {PLAYS_SERVICE && (
          <>
            <div class="no-print">
              <ClockLine />
            </div>
            <AccountPicker />
          </>
        )}
      </div>
      <Tabs />
    </header>
  )
}
