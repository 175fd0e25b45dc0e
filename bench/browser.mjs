// The browser of the machine. playwright-core brings none, and installs none.
import { spawnSync } from 'node:child_process'
import { chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

/** The path of a Chromium: that of the variable CHROME_PATH, or the first that is found; `undefined` if there is none. */
export function findChromium() {
  return process.env.CHROME_PATH ?? NAMES.map(locate).find((found) => found !== undefined)
}

function locate(name) {
  const { status, stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** @throws Error when there is no Chromium; the message says what to do. */
export async function launchChromium() {
  const executablePath = findChromium()
  if (executablePath === undefined) {
    throw new Error(
      `No Chromium was found as ${NAMES.join(', ')}. Install one (apt-get install chromium) or name it in CHROME_PATH.`,
    )
  }
  // The sandbox does not work for root, which is the usual user in a container.
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 })
}
