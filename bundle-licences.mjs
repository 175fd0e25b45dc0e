// The licences of packages ask that everybody who gets the code of a package gets its licence, too.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The folder of the package that a module is of, and its name. A module that the bundler has made is of none. */
const PLACE = /^[^\0].*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/:]+)(?=[\\/][^:]*$)/
/** The holders of packages under the licence of this one that do not contain it, as their repositories name them. */
const HOLDERS = { '@redis/client': 'Copyright (c) 2022-2025, Redis, inc.' }

/** The name of the package that a module is of. */
export function packageOf(module) {
  return PLACE.exec(module)?.[1]?.replace('\\', '/')
}

/** The licences of the packages that these modules are of, each with the names of its packages. */
export async function readLicences(modules) {
  const places = new Map(modules.flatMap((id) => (PLACE.test(id) ? [[packageOf(id), PLACE.exec(id)[0]]] : [])))
  const texts = new Map()
  for (const name of [...places.keys()].sort()) {
    const text = await readLicence(name, places.get(name))
    texts.set(text, [...(texts.get(text) ?? []), name])
  }
  return [...texts].map(([text, packages]) => `${packages.join(', ')}\n\n${text}\n`).join('\n')
}

async function readLicence(name, folder) {
  const file = (await readdir(folder)).find((each) => /^licen[cs]e(?:\.\w+)?$/i.test(each))
  if (file !== undefined) return (await readFile(join(folder, file), 'utf8')).trim()
  const { license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  if (license !== 'MIT' || HOLDERS[name] === undefined) throw new Error(`The package ${name} contains no licence.`)
  const own = await readFile(new URL('LICENSE', import.meta.url), 'utf8')
  return own.trim().replace(/^Copyright .*$/m, HOLDERS[name])
}
