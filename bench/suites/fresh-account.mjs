// Tests with the service: each has an account of its own.
import { createTest } from '../../dist/vitest.js'
import { measureTests, useGroup } from './group-tests.mjs'

const test = createTest()
measureTests('createTest', (name) => test(name, ({ account }) => useGroup(account.baseUrl, account.headers)))
