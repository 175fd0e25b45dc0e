import { Accounts } from '../../src/store/accounts.ts'
import { describeStore } from './conformance.ts'

describeStore('the store in memory', async (clock) => ({ store: new Accounts({ clock }) }))
