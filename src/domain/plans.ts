import type { Settings } from './settings.ts'

/** Source: "API access is limited to the plan tier named Stone and higher tiers." */
export function includesApiAccess(plan: string, { order, lowest }: Settings['plans']): boolean {
  return order.indexOf(plan) >= order.indexOf(lowest)
}
