// What single questions about large accounts cost, and how long they make somebody wait who asks about another account.
import { domainName } from './accounts.mjs'
import { controlRequest, OURS, serveCommand, serviceRequest, startCandidate } from './candidates.mjs'
import { ask } from './load.mjs'
import { fineCpuSeconds, stopProgram } from './processes.mjs'
import { summarize } from './statistics.mjs'

const [GROUPS, DOMAINS] = [300, 10_000]
const KEY = 'key-of-the-large-account'
/** Questions that are not counted: what is done for the first time takes longer. */
const WARM_UP = 2

/** Question → what the account holds, and the request that asks it, which no kept answer may answer. */
const QUESTIONS = {
  [`explain, ${GROUPS} groups of 1,000`]: {
    fixture: () => {
      const domains = namesTo(1_000)
      return { domains, groups: Array.from({ length: GROUPS }, (_, index) => ({ name: `Group ${index}`, domains })) }
    },
    question: async (port) => controlRequest('GET', `/explain/${await refuse(port)}`),
  },
  [`overview, ${DOMAINS.toLocaleString('en-US')} domains`]: {
    fixture: () => ({ domains: namesTo(DOMAINS) }),
    async question(port, round) {
      await ask(port, serviceRequest('POST', '/domains', { domains: [`one-more-${round}.example`] }, KEY))
      return controlRequest('GET', '/accounts/large/overview')
    },
  },
}

/** Milliseconds until the answer, of processor time, and of the longest wait of somebody else meanwhile. */
export async function measureLarge(plan) {
  const rows = []
  for (const [question, { fixture, question: prepare }] of Object.entries(QUESTIONS)) {
    const { child, port } = await startCandidate(OURS, serveCommand('demo'))
    await ask(port, controlRequest('POST', '/accounts', { id: 'large', api_key: KEY, fixture: fixture() }))
    const rounds = []
    for (let round = -WARM_UP; round < plan.questions; round++) {
      const figures = { ...(await answer(child, port, prepare, round)), ...(await disturb(port, prepare, round)) }
      if (round >= 0) rounds.push(figures)
    }
    rows.push({ question, ...summarize(rounds) })
    await stopProgram(child)
  }
  return rows
}

async function answer(child, port, prepare, round) {
  const request = await prepare(port, `${round}-alone`)
  const [spent, began] = [fineCpuSeconds(child.pid), performance.now()]
  await ask(port, request)
  return {
    milliseconds: performance.now() - began,
    cpuMilliseconds: (fineCpuSeconds(child.pid) - spent) * 1000,
  }
}

/** Another client asks one thing after the other, from before the question until its answer. */
async function disturb(port, prepare, round) {
  const request = await prepare(port, `${round}-beside`)
  let [isAnswered, longestWait] = [false, 0]
  const answered = ask(port, request).finally(() => {
    isAnswered = true
  })
  while (!isAnswered) {
    const began = performance.now()
    await ask(port, serviceRequest('GET', '/domaingroups'))
    longestWait = Math.max(longestWait, performance.now() - began)
  }
  await answered
  return { longestWait }
}

/** Sends a request that is refused, and resolves to its id. */
async function refuse(port) {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/domaingroups`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'One more', domains: ['unknown.example'] }),
  })
  await response.arrayBuffer()
  return response.headers.get('x-request-id')
}

function namesTo(count) {
  return Array.from({ length: count }, (_, index) => domainName(index))
}
