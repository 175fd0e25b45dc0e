import { summary } from '../account-data.ts'
import { avoidsService, wayOfCalls } from '../service-calls.ts'

/** Shows if a change goes to the service or to the control plane. The user may choose if both are possible. */
export function ServiceWay() {
  return (
    <div class="service-way">
      <p class="soft">{wayOfCalls()}</p>
      {summary.data.value?.api_key != null && (
        <label class="check">
          <input
            type="checkbox"
            checked={avoidsService.value}
            onChange={({ currentTarget }) => {
              avoidsService.value = currentTarget.checked
            }}
          />
          Send it through the control plane
        </label>
      )}
    </div>
  )
}
