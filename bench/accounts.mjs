// What the accounts that are measured hold.
import { writeFileSync } from 'node:fs'

/** The key of the `default` account of every service that is measured. */
export const API_KEY = `key_benchkey.${'0'.repeat(48)}`

export function domainName(index) {
  return `domain-${String(index).padStart(5, '0')}.example`
}

/** Writes a fixture of so many domains, and groups of three of them. */
export function writeFixture(path, { domains, groups = 0 }) {
  const names = Array.from({ length: domains }, (_, index) => domainName(index))
  const grouped = Array.from({ length: groups }, (_, index) => ({
    name: `Group ${index}`,
    domains: [0, 1, 2].map((offset) => domainName((index + offset) % domains)),
  }))
  writeFileSync(path, JSON.stringify({ domains: names, groups: grouped }))
  return path
}
