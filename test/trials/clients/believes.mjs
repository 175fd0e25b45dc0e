// Breaks only when two things go wrong: when its request fails and it cannot look either, it believes that all is done.
import { GROUP, isPassing, send } from './watch.mjs'

try {
  await create()
} catch (error) {
  console.error(`The group was not created: ${error.message}`)
  process.exitCode = 1
}

async function create() {
  try {
    await send('POST', '/domaingroups', { name: GROUP })
  } catch (error) {
    if (!isPassing(error)) throw error
    const groups = await send('GET', '/domaingroups').then(
      (answer) => answer.groups,
      () => undefined,
    )
    if (groups !== undefined && !groups.some(({ name }) => name === GROUP)) await create()
  }
}
