import { load } from 'js-yaml'
import { expect } from 'vitest'
import { actionsFor } from '../support/alternatives.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { API_KEY, startService } from '../support/service.ts'

it('what verify has asked a service becomes an overlay, and its account is as it was', async ({ folder }) => {
  const service = await startService({ overlays: [writeOverlay(folder, actionsFor('create-group-status-1'))] })
  const asked = ['verify', '--base-url', service.baseUrl, '--api-key', API_KEY, '--evidence', `${folder}/seen.json`]
  const verified = await runInProcess(asked, { folder })
  expect(verified.code, verified.stderr).toBe(0)
  const { code, stdout, stderr } = await runInProcess(['calibrate', '--evidence', `${folder}/seen.json`])
  expect(code, stderr).toBe(0)
  const removed = { target: "$['paths']['/domaingroups']['post']['responses']['200']", remove: true }
  expect(load(stdout)).toMatchObject({ actions: expect.arrayContaining([removed]) })
  expect(stdout + stderr).not.toContain(API_KEY)
  const lists = await Promise.all([service.get('/domains'), service.get('/domaingroups')])
  expect(lists.map(({ body }) => body.data)).toEqual([{ domains: [] }, { groups: [], count: 0 }])
})
