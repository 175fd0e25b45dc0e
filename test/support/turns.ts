import type { TestService } from './service.ts'

/** Several replicas as one service: each request goes to the one that `choose` names by its place. */
export function takeTurns(replicas: readonly [TestService, ...TestService[]], choose: () => number): TestService {
  const [first] = replicas
  const next = () => replicas[choose() % replicas.length] ?? first
  return {
    get baseUrl() {
      return next().baseUrl
    },
    contract: first.contract,
    store: first.store,
    send: (...request) => next().send(...request),
    get: (path) => next().get(path),
    sendRaw: (bytes) => next().sendRaw(bytes),
    advance(milliseconds) {
      for (const replica of replicas) replica.advance(milliseconds)
    },
    async stop() {
      await Promise.all(replicas.map((replica) => replica.stop()))
    },
  }
}
