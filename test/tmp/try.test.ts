import { it } from 'vitest'
import { startUnderstudy } from '../../src/index.ts'
const log = { info: (f: object, m: string) => process.env['V'] && console.log('info', JSON.stringify(f), m), warn: (f: object, m: string) => console.log('warn', JSON.stringify(f), m), error: (f: object, m: string) => console.log('error', JSON.stringify(f), m) }
it('tries', async () => {
  let out = ''
  for (const url of (process.env['URLS'] ?? '').split(' ')) {
    const t = performance.now()
    try {
      const s = await startUnderstudy({ store: url, fixture: 'empty', log })
      out += `ok ${url} ${Math.round(performance.now() - t)}\n`
      await s.stop()
    } catch (e: any) {
      out += `${Math.round(performance.now() - t)} ms ${e.name} ${e.message} ${e.name === 'StoreError' ? '' : e.stack}\n`
    }
  }
  console.log(out)
}, 60_000)
