// A small client of the service, as a command that `vary` and `explore` try: it makes a group and reads it.
const { UNDERSTUDY_BASE_URL: baseUrl, UNDERSTUDY_API_KEY: apiKey } = process.env
const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }

async function send(method, path, body) {
  const response = await fetch(`${baseUrl}${path}`, { method, headers, body: JSON.stringify(body) })
  return (await response.json()).data
}

const { group } = await send('POST', '/domaingroups', { name: 'Bench' })
await send('GET', `/domaingroups?id=${group.id}`)
