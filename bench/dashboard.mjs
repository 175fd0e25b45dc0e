// How long people wait for the dashboard: the page at a cold load, and a table of 10,000 domains.
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { writeFixture } from './accounts.mjs'
import { findChromium, launchChromium } from './browser.mjs'
import { serveCommand, startCandidate } from './candidates.mjs'
import { stopProgram } from './processes.mjs'
import { median } from './statistics.mjs'

const VIEWPORT = { width: 1440, height: 900 }
/** Domains of the large account. */
const DOMAINS = 10_000
/** A frame that takes longer is seen as a stutter. */
const LONG_FRAME = 50

/** All figures of the page. `notMeasured` says why there are none. */
export async function measureDashboard(plan, folder) {
  if (findChromium() === undefined) return { notMeasured: 'no Chromium is installed' }
  const browser = await launchChromium()
  const fixture = writeFixture(join(folder, 'dashboard.json'), { domains: DOMAINS })
  const demo = await startCandidate('demo', serveCommand('demo'))
  const large = await startCandidate('large', serveCommand(fixture))
  try {
    const page = await (await fetch(`http://127.0.0.1:${demo.port}/__admin/`)).arrayBuffer()
    return {
      gzippedBytes: gzipSync(Buffer.from(page)).length,
      ...(await measureLoads(browser, demo.port, plan.pageLoads)),
      largeOverview: (await measureLoads(browser, large.port, plan.pageLoads)).overview,
      ...(await measureTable(browser, large.port)),
    }
  } finally {
    await browser.close()
    await Promise.all([stopProgram(demo.child), stopProgram(large.child)])
  }
}

function pageAt(port, place) {
  return `http://127.0.0.1:${port}/__admin/page/${place}`
}

/** Milliseconds from the navigation to the first paint and to the figures of the overview: the medians of cold loads. */
async function measureLoads(browser, port, count) {
  const [paints, overviews] = [[], []]
  for (let load = 0; load < count; load++) {
    const context = await browser.newContext({ viewport: VIEWPORT })
    const page = await context.newPage()
    await page.goto(pageAt(port, 'default/overview'))
    overviews.push(await page.evaluate(untilShown, '#panel :is(svg, .figure)'))
    paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime))
    await context.close()
  }
  return { firstPaint: median(paints), overview: median(overviews) }
}

async function measureTable(browser, port) {
  const context = await browser.newContext({ viewport: VIEWPORT })
  const page = await context.newPage()
  await page.goto(pageAt(port, 'default/domains'))
  const table = await page.evaluate(untilShown, '#domain-rows [data-domain]')
  await page.locator('#domain-rows [data-domain]').first().waitFor()
  const frames = await page.evaluate(scrollThrough)
  const keystroke = await measureFilter(page)
  await context.close()
  return {
    table,
    longestFrame: Math.max(...frames),
    longFrames: frames.filter((milliseconds) => milliseconds > LONG_FRAME).length / frames.length,
    keystroke,
  }
}

/** In the page: milliseconds since the navigation when an element that the selector finds has been drawn; NaN if it never is. */
function untilShown(selector) {
  return new Promise((resolve) => {
    const look = () => {
      if (performance.now() > 30_000) resolve(Number.NaN)
      else if (document.querySelector(selector) === null) requestAnimationFrame(look)
      else requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
    }
    look()
  })
}

/** In the page: the milliseconds of each frame while what scrolls around the rows is scrolled from top to bottom. */
function scrollThrough() {
  const rows = document.querySelector('#domain-rows')
  let scroller = rows
  while (scroller !== null && !/auto|scroll/.test(getComputedStyle(scroller).overflowY))
    scroller = scroller.parentElement
  scroller ??= document.scrollingElement
  const frames = []
  return new Promise((resolve) => {
    let before
    let steps = 0
    const step = (now) => {
      if (before !== undefined) frames.push(now - before)
      before = now
      scroller.scrollTop += Math.max(400, scroller.scrollHeight / 120)
      if (++steps < 120) requestAnimationFrame(step)
      else resolve(frames)
    }
    requestAnimationFrame(step)
  })
}

/** Milliseconds from a key in the field that searches to the rows that match, drawn: the median of some keys. */
async function measureFilter(page) {
  const field = page.locator('#panel input[type=search]').first()
  await field.focus()
  const times = []
  for (const key of ['9', '9', '7', 'Backspace', 'Backspace']) {
    await page.evaluate(watchKey)
    await page.keyboard.press(key)
    times.push(await page.evaluate(() => window.drawn))
  }
  return median(times)
}

/** In the page: `drawn` becomes the milliseconds from the next key to the end of the frame in which the rows change. */
function watchKey() {
  window.drawn = new Promise((resolve) => {
    addEventListener(
      'keydown',
      ({ timeStamp }) => {
        const observer = new MutationObserver(() => {
          observer.disconnect()
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - timeStamp)))
        })
        observer.observe(document.getElementById('panel'), { subtree: true, childList: true, characterData: true })
      },
      { once: true, capture: true },
    )
  })
}
