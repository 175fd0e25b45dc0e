// A runner of tests such as Jest loads modules into a sandbox that has no modules of ECMAScript, and again for each file of
// tests. The service is no part of what is tested, so the loader of Node.js itself loads it.
'use strict'
const { process } = require('node:vm').runInThisContext('globalThis')
const load = process.getBuiltinModule('node:module').createRequire(__filename)
// A bundler may have copied this code to a place without the other files.
module.exports = load(load.resolve('dmarc-understudy/package.json').replace(/package\.json$/, 'dist/index.js'))
