import { summary } from '../account-data.ts'
import { chosenAccount } from '../address.ts'
import { Loaded } from '../controls/loaded.tsx'
import { ClockSection } from './clock.tsx'
import { SnapshotSection } from './snapshots.tsx'

export function TimePanel() {
  return (
    <>
      {/* The input for one account does not apply to another. */}
      <Loaded key={`clock of ${chosenAccount}`} of={summary}>
        {() => <ClockSection />}
      </Loaded>
      <SnapshotSection />
    </>
  )
}
