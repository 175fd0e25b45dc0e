import { openMemoryStore } from '../../src/store/memory.ts'
import { describeStore } from './conformance.ts'

describeStore('the store in memory', async (clock) => ({ store: openMemoryStore({ clock }) }))
