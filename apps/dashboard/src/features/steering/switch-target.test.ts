import { expect, it } from 'vitest'

import { readTarget, switchGroups } from './switch-dialog.tsx'

it('offers models, tiers and the profiles that are for runs', () => {
  const groups = switchGroups({
    models: [{ alias: 'small', provider: 'test' }],
    modelTiers: [{ name: 'fast', model: 'small' }],
    profiles: [{ name: 'night', modelTier: 'fast' }, { name: 'calm' }],
  })
  expect(groups.map(({ label, options }) => [label, options.map(({ value }) => value)])).toEqual([
    ['Models', ['model:small']],
    ['Tiers', ['tier:PRIMARY', 'tier:FALLBACK', 'tier:fast']],
    ['Profiles', ['profile:night']],
  ])
})

it('offers a fallback tier of the catalog in place of the built-in one', () => {
  const [tiers] = switchGroups({ models: [], modelTiers: [{ name: 'fallback', model: 'small' }] })
  expect(tiers?.options.map(({ value }) => value)).toEqual(['tier:PRIMARY', 'tier:fallback'])
})

it('reads back what it offers, whatever the name', () => {
  expect(readTarget('tier:a:b')).toEqual({ kind: 'tier', name: 'a:b' })
  expect(readTarget('model:x')).toEqual({ kind: 'model', name: 'x' })
  expect([readTarget(''), readTarget('else:x')]).toEqual([undefined, undefined])
})
