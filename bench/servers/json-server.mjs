// json-server as a module, as its manual shows, which is the fastest that it can be: data in memory instead of a file
// that every write rewrites, no log, no compression, no indentation, none of its other middleware.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [, , folder, answersPath, port] = process.argv
const jsonServer = createRequire(join(folder, 'package.json'))('json-server')
const { groups, dmarc } = JSON.parse(readFileSync(answersPath, 'utf8'))

const router = jsonServer.router({ domaingroups: JSON.parse(groups).data.groups, dmarc: JSON.parse(dmarc).data })
router.render = ({ path }, response) => {
  const { data } = response.locals
  response.json({ success: true, data: path.startsWith('/domaingroups') ? { group: data } : data })
}
const app = jsonServer.create()
app.set('json spaces', 0)
app.disable('etag')
app.disable('x-powered-by')
app.use(jsonServer.rewriter({ '/api/v1/domaingroups\\?id=:id': '/domaingroups/:id', '/api/v1/*': '/$1' }))
app.use(router)
app.listen(Number(port), '127.0.0.1')
