/** What the server serves. Its first ensemble is the one that runs when nobody names another. */
import { env } from 'node:process'

import { defineConfig } from '@tutti/server'

import { chooseModel } from './src/model.ts'
import { supportDesk } from './src/support-desk.ts'

const model = chooseModel(env)

export default defineConfig({
  // REVIEW=on lets a person read each answer before the run ends.
  ensembles: [supportDesk({ model, review: env['REVIEW'] === 'on' })],
  // A run may ask for one of these by name, also while it is running.
  models: { default: model },
})
