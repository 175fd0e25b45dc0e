import { createRequire } from 'node:module'
import { join } from 'node:path'
import type express from 'express'
import { expect } from 'vitest'
import { contract, standIn } from '../../src/express.ts'
import { startUnderstudy } from '../../src/index.ts'
import { it } from '../support/program.ts'
import { runShell } from '../support/program-process.ts'
import { API_KEY } from '../support/service.ts'
import { AUTHORIZED, JSON_BODY } from '../support/wire.ts'
import { answerTo, serve, tellError } from './application.ts'

it('Both middlewares and service.app work in an application of Express 4', { timeout: 600_000 }, async ({ folder }) => {
  const install = 'npm install --silent --no-audit --no-fund --prefix . express@4'
  expect(await runShell(install, { folder })).toMatchObject({ code: 0, stderr: '' })
  // The types of the later version fit what is used of the earlier one.
  const express4 = createRequire(join(folder, 'index.js'))('express') as typeof express
  await using service = await startUnderstudy({ fixture: 'empty', apiKey: API_KEY })
  const violations: string[] = []
  const app = express4()
  app.use('/parsed', express4.json(), standIn(service), tellError)
  app.use('/whole', service.app)
  app.use(contract({ onViolation: ({ id }) => violations.push(id) }), standIn(service))
  app.use((_request, response) => void response.send('passed on'))
  const port = await serve(app)
  const add = { method: 'POST', headers: [AUTHORIZED, JSON_BODY], body: '{"domains":["a.example"]}' }
  const list = { headers: [AUTHORIZED], target: '/api/v1/domains' }
  expect((await answerTo(port, { ...add, target: '/api/v1/domains' })).status).toBe(200)
  expect((await answerTo(port, { ...list, target: '/whole/api/v1/domains' })).text).toContain('["a.example"]')
  expect((await answerTo(port, { ...list, target: '/whole/__admin/health' })).status).toBe(200)
  expect((await answerTo(port, { ...add, target: '/parsed/api/v1/domains' })).text).toContain('Mount standIn(service)')
  expect((await answerTo(port, { ...list, target: '/elsewhere' })).text).toBe('passed on')
  expect(violations).toEqual([])
  expect((await answerTo(port, { ...add, target: '/api/v1/domains', body: '{"domains":3}' })).status).toBe(400)
  expect(violations).toEqual(['contract-violation/addDomains/400/request/body/domains/type'])
})
