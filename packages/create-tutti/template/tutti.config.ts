/** The configuration of the server. The first ensemble is the default. */
import { env } from 'node:process'

import { defineConfig } from '@tutti/server'

import { chooseModel } from './src/model.ts'
import { supportDesk } from './src/support-desk.ts'

const model = chooseModel(env)

export default defineConfig({
  // With REVIEW=on, a person reviews each answer before the run ends.
  ensembles: [supportDesk({ model, review: env['REVIEW'] === 'on' })],
  // Models that runs can switch to by name, also while they are running.
  models: { default: model },
})
