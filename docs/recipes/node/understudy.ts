import { randomUUID } from 'node:crypto'
import { GenericContainer, Wait } from 'testcontainers'

const IMAGE = 'ghcr.io/dmarc-understudy/dmarc-understudy:0.1.0'

/** Starts the service in a container. Call it before all tests, and `stop` after them. */
export async function startUnderstudy() {
  const token = randomUUID()
  const container = await new GenericContainer(IMAGE)
    .withExposedPorts(4010)
    .withEnvironment({ DMARC_UNDERSTUDY_ADMIN_TOKEN: token })
    .withWaitStrategy(Wait.forHttp('/__admin/ready', 4010))
    .start()
  const origin = `http://${container.getHost()}:${container.getMappedPort(4010)}`

  /** Asks the control plane, and returns the data of its answer. */
  async function control(method: string, path: string, body?: object) {
    const response = await fetch(`${origin}/__admin${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()).data
  }

  return {
    baseUrl: `${origin}/api/v1`,
    control,
    /** A key of a new account. Each test has its own, so tests can run at the same time. */
    createKey: async (): Promise<string> => (await control('POST', '/accounts', { fixture: 'empty' })).api_key,
    /** Throws if a request violated the contract. */
    async stop() {
      const verdict = await control('GET', '/verdict')
      await container.stop()
      if (!verdict.passed) throw new Error(verdict.message)
    },
  }
}
