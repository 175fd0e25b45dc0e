import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { openFolderStore } from '../../../src/store/folder/folder-store.ts'
import { withKey } from '../../support/account.ts'
import { PROGRAM, spawnShell } from '../../support/program-process.ts'
import { sendRequest } from '../../support/request.ts'
import { ready } from '../../support/running-program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { domainsOf, SETTINGS } from '../example-account.ts'

it('writes changes however many clients connect, because connections leave room for files', async () => {
  const folder = temporaryFolder()
  const serve = `${process.execPath} ${PROGRAM} serve --port 0 --data ${folder} --fixture empty --log-level warn`
  const service = await ready(spawnShell(`ulimit -n 64 && exec ${serve}`))
  onTestFinished(() => service.stop('SIGKILL'))
  // The connection of the first request is kept. For another, there may be no descriptor left.
  const add = (domain: string) =>
    sendRequest('POST', `${service.baseUrl}/domains`, { domains: [domain] }, withKey(service.apiKey))

  expect(await add('before.example')).toMatchObject({ status: 200 })
  const crowd = Array.from({ length: 100 }, () => connect(Number(new URL(service.baseUrl).port), '127.0.0.1'))
  onTestFinished(() => crowd.forEach((socket) => void socket.destroy()))
  await Promise.race(crowd.map((socket) => new Promise((resolve) => socket.on('error', resolve).on('close', resolve))))
  const added = ['one.example', 'two.example', 'three.example']
  for (const domain of added) expect(await add(domain)).toMatchObject({ status: 200 })
  service.stop('SIGKILL')
  const { stderr } = await service.ended
  expect(stderr).toContain('The maximum number of connections is open; further ones are refused.')
  const store = await openFolderStore(folder, SETTINGS)
  onTestFinished(() => store.close())
  expect(await domainsOf(store, 'default')).toEqual(['before.example', ...added])
})
