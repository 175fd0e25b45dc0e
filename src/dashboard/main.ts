// The page is a client of the control plane like any other. Anybody can send a request with any text to the service, so
// the page shows such text only as text nodes, never as markup.
import { startAccountDialogs } from './account-dialogs.ts'
import { loadAccount, startAccountSummary } from './account-summary.ts'
import { onClick } from './actions.ts'
import { chooseAccount, isLoss, leaveLostAccount, loadAccounts, refreshAll, refreshTab } from './chosen-account.ts'
import { copyText } from './clipboard.ts'
import { startClock } from './clock.ts'
import { startCoverage } from './coverage.ts'
import { startDomains } from './domains.ts'
import { findAll, findById } from './elements.ts'
import { BASE_URL } from './facts.ts'
import { startFaultForm } from './fault-form.ts'
import { startFaults } from './faults.ts'
import { startKeys } from './keys.ts'
import { showFailure } from './notices.ts'
import { loadQuotas, startQuotas } from './quotas.ts'
import { startRequestDetails } from './request-details.ts'
import { isServerAway, startRequestStream } from './request-stream.ts'
import { startRequests } from './requests.ts'
import { readAddress, selection } from './selection.ts'
import { startSnapshots } from './snapshots.ts'
import { openTab, startTabs } from './tabs.ts'

const MILLISECONDS_BETWEEN_POLLS = 5_000
/** A longer list of accounts is loaded only when the page is opened or an account is created or deleted. */
const MOST_ACCOUNTS = 300

const picker = findById('account', HTMLSelectElement)

findById('base-url', HTMLElement).textContent = BASE_URL
for (const button of findAll(document, '[data-copy]', HTMLButtonElement)) {
  onClick(button, () => copyText(findById(button.dataset['copy'] ?? '', HTMLElement)))
}
for (const button of findAll(document, '[data-refresh]', HTMLButtonElement)) onClick(button, refreshTab)

readAddress()
startTabs()
startAccountDialogs()
startAccountSummary()
startQuotas()
startClock()
startRequests()
startRequestDetails()
startFaults()
startFaultForm()
startDomains()
startSnapshots()
startKeys()
startCoverage()
openTab(selection.tab)
loadAccounts().catch(() => undefined)
refreshAll().catch(showFailure)
startRequestStream()
setInterval(poll, MILLISECONDS_BETWEEN_POLLS)

addEventListener('hashchange', () => {
  const { account } = selection
  readAddress()
  openTab(selection.tab)
  if (selection.account !== account) chooseAccount(selection.account)
})

/** Loads what other clients of the control plane can change. */
function poll(): void {
  if (document.hidden || isServerAway()) return
  Promise.all([loadAccount(), loadQuotas(), refreshTab(['faults'])]).catch((error) => {
    if (isLoss(error)) return leaveLostAccount()
  })
  if (picker.options.length < MOST_ACCOUNTS && document.activeElement !== picker) {
    loadAccounts().catch(() => undefined)
  }
}
