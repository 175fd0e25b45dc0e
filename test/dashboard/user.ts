import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Has a page load at once what it shows, as when somebody returns to it; by itself, it asks every few seconds. */
export async function lookAgain(page: Page): Promise<void> {
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
}

export const press = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true }).click()

/** Waits until a text is seen. */
export const see = (within: Page | Locator, text: string | RegExp) =>
  within.getByText(text).filter({ visible: true }).first().waitFor()

/** Waits until something warns or refuses in these words. */
export const warns = (within: Page | Locator, hasText: string | RegExp) =>
  within.getByRole('alert').filter({ hasText }).waitFor()

/** The link to a view, whose name may have a number behind it. */
export const linkTo = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name: new RegExp(`^${name}\\b`) })

export const openView = (page: Page, name: string) => linkTo(page, name).click()

export const viewOf = (page: Page) => page.getByRole('main')

/** The details of an item, beside or in place of its list. */
export const detailsOf = (page: Page, name: string | RegExp) =>
  page.getByRole('region', { name, ...(typeof name === 'string' && { exact: true }) })

export const dialogOf = (page: Page) => page.getByRole('dialog').last()

/** Answers the question that lies above everything. Resolves to its text. */
export async function answer(page: Page, button: string): Promise<string> {
  const dialogs = page.getByRole('dialog')
  // The question may still be on its way.
  await dialogs.last().getByRole('button', { name: button, exact: true }).waitFor()
  const open = await dialogs.count()
  const text = await dialogs.last().innerText()
  await press(dialogs.last(), button)
  await expect.poll(() => dialogs.count()).toBeLessThan(open)
  return text
}
