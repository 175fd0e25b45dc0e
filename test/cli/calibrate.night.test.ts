import { load } from 'js-yaml'
import { expect } from 'vitest'
import { actionsFor } from '../support/alternatives.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { API_KEY, startService } from '../support/service.ts'

it('calibrate asks a service as verify does, and leaves its account as it was', async ({ folder }) => {
  const service = await startService({ overlays: [writeOverlay(folder, actionsFor('create-group-status-1'))] })
  const args = ['calibrate', '--base-url', service.baseUrl, '--api-key', API_KEY]
  const { code, stdout, stderr } = await runInProcess(args, { folder })
  expect(code, stderr).toBe(0)
  const removed = { target: "$['paths']['/domaingroups']['post']['responses']['200']", remove: true }
  expect(load(stdout)).toMatchObject({ actions: expect.arrayContaining([removed]) })
  expect(stdout + stderr).not.toContain(API_KEY)
  const lists = await Promise.all([service.get('/domains'), service.get('/domaingroups')])
  expect(lists.map(({ body }) => body.data)).toEqual([{ domains: [] }, { groups: [], count: 0 }])
})
