/** The configuration of the server. The first ensemble is the default. */
import { env } from 'node:process'

import { defineConfig } from '@tutti/server'

import { chooseModel } from './src/model.ts'
import { supportDesk } from './src/support-desk.ts'
import { findOrders } from './src/tools/find-orders.ts'
import { quoteRefund } from './src/tools/quote-refund.ts'

const model = chooseModel(env)

export default defineConfig({
  // With REVIEW=on, a person reviews each answer before the run ends.
  ensembles: [supportDesk({ model, review: env['REVIEW'] === 'on' })],
  // Tools that callers may call directly, as `npx tutti tools invoke` does. Those of tasks need not be listed.
  tools: [findOrders, quoteRefund],
  // Models that runs can switch to by name, also while they are running.
  models: { default: model },
})
